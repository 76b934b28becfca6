"""Tokens of a lease that are not the live one of its resource, as they are made of those that somebody has seen."""

from pathlib import Path

from tests.stack import stack


async def test_no_other_spelling_of_a_token_writes(store_url: str, tmp_path: Path) -> None:
    """Nor a larger epoch with the true secret, which would shut the holder out: it writes on."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "old")
        await gate.lease("report/7", "live", takeover=True)
        await gate.lease("report/8", "other")
        (epoch, secret), (_, old), (_, other) = (gate.tokens[who].split(".") for who in ("live", "old", "other"))
        made = {
            "old": (gate.tokens["old"], "stale-epoch"),
            "other": (gate.tokens["other"], "token-invalid"),
            "the live epoch, the old secret": (f"{epoch}.{old}", "token-invalid"),
            "the live epoch, another resource's secret": (f"{epoch}.{other}", "token-invalid"),
            "a larger epoch": (f"{int(epoch) + 1000}.{secret}", "token-invalid"),
            "the largest epoch": (f"{2**64 - 1}.{secret}", "token-invalid"),
            "capitals": (f"{epoch}.{secret.swapcase()}", "token-invalid"),
            "a secret cut short": (f"{epoch}.{secret[:-1]}", "token-invalid"),
            "a secret with more": (f"{epoch}.{secret}A", "token-invalid"),
            "a leading zero": (f"0{epoch}.{secret}", "token-malformed"),
            "a sign": (f"+{epoch}.{secret}", "token-malformed"),
            "padding": (f"{epoch}.{secret}=", "token-malformed"),
            "something behind it": (f"{epoch}.{secret},x", "token-malformed"),
            "a blank that is none": (f"{epoch}.{secret}\xa0", "token-malformed"),
            "the epoch alone": (epoch, "token-malformed"),
            "the secret alone": (secret, "token-malformed"),
            "a dot alone": (".", "token-malformed"),
            "an escape": (f"{epoch}%2E{secret}", "token-malformed"),
        }
        told = {}
        for name, (token, _) in made.items():
            gate.tokens["made"] = token
            told[name] = (await gate.write("/reports/7", holder="made")).decision
            live = await gate.write("/reports/7", holder="live", body=b"live")
            assert (live.decision, gate.upstream.seen.pop().body) == ("forwarded", b"live")

        assert told == {name: decision for name, (_, decision) in made.items()}
        assert gate.upstream.seen == []
