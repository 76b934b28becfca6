"""An intent as agents are shown it."""

import base64
import json

from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.intent import IntentId, KeptAnswer
from gateway.core.record import IntentRecord, shown
from gateway.core.write import ResourceKey


def record(**fields: object) -> IntentRecord:
    known = {
        "id": IntentId("0abk"), "state": "applied", "upstream": "mail", "rule": "send", "resource": ResourceKey("m/1"),
        "epoch": Epoch(HIGHEST), "holder": "a", "key": "k", "tenant": "default", "target": "POST /mail", "attempts": 2,
        "created_at_ms": 1_700_000_000_000, "updated_at_ms": 1_700_000_001_042, "reason": "answered 201",
    }  # fmt: skip
    return IntentRecord(**(known | fields))


def test_a_record_is_plain_json() -> None:
    """Epochs are strings of digits, instants are of RFC 3339; what is not there is left out."""
    assert json.loads(json.dumps(shown(record()))) == {
        "id": "0abk",
        "state": "applied",
        "rule": "send",
        "resource": "m/1",
        "epoch": str(HIGHEST),
        "attempts": 2,
        "created_at": "2023-11-14T22:13:20.000Z",
        "updated_at": "2023-11-14T22:13:21.042Z",
    }


def test_a_kept_answer_is_shown_whole() -> None:
    """Text as text, bytes in base64; who resolved it is told."""
    text = shown(record(answer=KeptAnswer(201, ((b"ETag", b"7"),), "ü".encode()), resolved_by="query"))
    raw = shown(record(answer=KeptAnswer(200, (), b"\xff")))

    assert text["response"] == {"status": 201, "headers": [["ETag", "7"]], "body": "ü"}
    assert text["resolved_by"] == "query"
    assert raw["response"] == {"status": 200, "headers": [], "body_base64": base64.b64encode(b"\xff").decode()}
