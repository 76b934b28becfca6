"""Other principals come into force apart from the rules: of thousands of them, compiling takes seconds."""

import gc
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

from gateway.core.caller import Caller
from gateway.core.request import Headers
from gateway.policy import load
from gateway.policy.compile.file import compile_policy
from gateway.policy.entry import Policy, of_another_term
from gateway.policy.finding import Finding
from gateway.policy.load import Loaded, load_with
from gateway.policy.reload import PolicyHolder, Reloaded
from gateway.policy.secret import Secrets
from tests.policy.asking import one_rule

EXAMPLES = Path(__file__).parents[2] / "policies"
CREDENTIAL = "credentials: [{{header: X-Key, value: '${{file:{file}}}'}}]\n"
EVERY_KIND = (
    one_rule(more="    intent: {mode: required}\n    authority: lease\n")
    + "  - {name: two, match: 'PUT /y/{id}', resource: 'y/{principal}/{tenant}/{path.id}'}\n"
    + "read_only: [{match: POST /search}]\nclosed: [{match: 'DELETE /x/{id}'}]\n"
)
OTHER = (
    "upstream: more\nurl: http://x\nmount: {path: /more}\nwrites: [{name: a, match: PUT /more/other, resource: o}]\n"
)


class Directory:
    """Two policies, one of them with a credential, and principals; and how many policies were compiled."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.secret, self.compiled = path, path / "secret", 0
        self.secret.write_text("s3cret")
        (path / "api.yaml").write_text(EVERY_KIND + CREDENTIAL.format(file=self.secret))
        (path / "more.yaml").write_text(
            "upstream: more\nurl: http://x\nmount: {path: /more}\n"
            "writes: [{name: a, match: PUT /more, resource: m, approval: required, intent: {mode: required}}]\n"
        )
        self.admit("ada", "bob")

        def counted(*given: Any) -> Policy | tuple[Finding, ...]:
            self.compiled += 1
            return compile_policy(*given)

        monkeypatch.setattr(load, "compile_policy", counted)
        opened = PolicyHolder.open(path, {})
        assert isinstance(opened, PolicyHolder), opened
        self.holder, self.compiled = opened, 0

    def admit(self, *names: str) -> None:
        lines = (
            f'  - {{name: {name}, key: "sha256:{hashlib.sha256(name.encode()).hexdigest()}", resources: ["**"]}}\n'
            for name in names
        )
        changed = self.path / "principals.new"
        changed.write_text("principals:\n" + "".join(lines))
        changed.replace(self.path / "principals.yaml")

    def knows(self, name: str) -> bool:
        who = self.holder.current.principals.identify(Headers([(b"fencegate-key", name.encode())]))
        return isinstance(who, Caller)


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Directory:
    return Directory(tmp_path, monkeypatch)


def test_other_principals_compile_no_rule(directory: Directory) -> None:
    """What is found for a request is what was found before, and whoever waits under the former set is judged anew."""
    former = directory.holder.current
    directory.admit("bob")

    assert directory.holder.reload() == Reloaded(2, 3)
    assert (directory.compiled, directory.knows("ada"), directory.knows("bob")) == (0, False, True)
    current = directory.holder.current
    assert current is not former
    for before, now in zip(former.entries, current.entries, strict=True):
        assert now.template is before.template
        assert now.matcher.patterns is before.matcher.patterns
        assert now == before
    assert [upstream.term.is_over for upstream in (*former.upstreams, *current.upstreams)] == [True] * 2 + [False] * 2


def test_nothing_of_the_new_set_is_of_the_former_term() -> None:
    """What is judged by it is sent by it: an upstream of the former set would count as one that is over."""
    loaded = load_with(EXAMPLES, Secrets({}))
    assert isinstance(loaded, Loaded)
    for policy in loaded.compiled.policies:
        renewed = of_another_term(policy)
        seen, left = set[int](), list[object]([renewed])
        while left:
            one = left.pop()
            if id(one) not in seen and not isinstance(one, type | FunctionType | ModuleType):
                seen.add(id(one))
                left.extend(gc.get_referents(one))

        assert id(renewed.upstream.term) in seen
        assert id(policy.upstream.term) not in seen, policy.upstream.name


def rewrite(path: Path, text: str) -> None:
    changed = path.with_suffix(".new")
    changed.write_text(text)
    changed.replace(path)


CHANGES: dict[str, tuple[Callable[[Directory], object], int]] = {
    "nothing": (lambda directory: None, 0),
    "principals": (lambda directory: directory.admit("cy"), 0),
    "a rule's file saved as it was": (lambda directory: os.utime(directory.path / "more.yaml", (1, 1)), 0),
    "a credential saved as it was": (lambda directory: rewrite(directory.secret, "s3cret"), 0),
    "a rule": (lambda directory: rewrite(directory.path / "more.yaml", OTHER), 2),
    "a rule's file is gone": (lambda directory: (directory.path / "more.yaml").unlink(), 1),
    "a rule's file is called otherwise": (
        lambda directory: (directory.path / "more.yaml").rename(directory.path / "other.yaml"),
        2,
    ),
    "a credential": (lambda directory: rewrite(directory.secret, "rotated"), 2),
}


@pytest.mark.parametrize(("change", "compiled"), CHANGES.values(), ids=CHANGES.keys())
def test_rules_are_compiled_where_they_or_their_credentials_are_others(
    change: Callable[[Directory], object], compiled: int, directory: Directory
) -> None:
    """All of them, because each may be in another's way; by what files say and not by when they were saved."""
    change(directory)

    assert isinstance(directory.holder.reload(), Reloaded)
    assert directory.compiled == compiled
    assert [directory.holder.changed(), directory.holder.changed()] == [False, False]


BAD: dict[str, Callable[[Path], object]] = {
    "a rule's file is broken": lambda path: (path / "more.yaml").write_text("writes: ["),
    "another file cannot be read": lambda path: (path / "unread.yaml").mkdir(),
    "a credential is gone": lambda path: (path / "secret").unlink(),
    "the principals are broken": lambda path: (path / "principals.yaml").write_text("principals: ["),
    "the principals are gone": lambda path: (path / "principals.yaml").unlink(),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD.keys())
def test_all_or_nothing_holds_for_them_too(damage: Callable[[Path], object], directory: Directory) -> None:
    """Principals that were changed beside something bad come into force with its mending."""
    former = directory.holder.current
    directory.admit("bob")
    damage(directory.path)

    assert isinstance(directory.holder.reload(), tuple)
    assert directory.holder.current is former
    assert directory.knows("ada")
    assert not former.upstreams[0].term.is_over


def test_rules_that_are_reused_are_reused_again(directory: Directory) -> None:
    """And a credential that rotates after that is seen."""
    for names in (("bob",), ("ada",), ("cy",)):
        directory.admit(*names)
        assert isinstance(directory.holder.reload(), Reloaded)
    assert directory.compiled == 0
    assert directory.holder.credentials == {str(directory.secret): "s3cret"}

    rewrite(directory.secret, "rotated")
    assert [directory.holder.changed(), directory.holder.changed()] == [False, True]
    assert isinstance(directory.holder.reload(), Reloaded)
    assert [value for _, value in directory.holder.current.upstreams[0].credentials] == [b"rotated"]
