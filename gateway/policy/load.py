"""A directory of policy files becomes a rule set, whole or not at all.

Nothing of a rule depends on who may call: rules whose files say what they said before are not compiled again because of
other principals. Of thousands of them it would take seconds, for which a key that was withdrawn would live on.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.policy import schema
from gateway.policy.compile.file import compile_policy
from gateway.policy.compile.principals import compile_principals
from gateway.policy.defaults import apply_defaults
from gateway.policy.entry import Policy, of_another_term
from gateway.policy.finding import Finding
from gateway.policy.itself import Listeners, sent_to_itself
from gateway.policy.principals import Principals
from gateway.policy.review.lint import lint
from gateway.policy.ruleset import RuleSet, build_ruleset
from gateway.policy.secret import Secrets
from gateway.policy.shape import check_shape
from gateway.policy.source import Source, read_source

PRINCIPALS = "principals.yaml"


@dataclass(frozen=True, slots=True)
class Compiled:
    """Rules alone. `made_of`: the digests of their files; `credentials`: what the files hold that those name."""

    policies: tuple[Policy, ...]
    made_of: Mapping[Path, bytes]
    credentials: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A rule set, and its rules for the next one. `is_reused`: they were those of the one before."""

    rules: RuleSet
    compiled: Compiled
    is_reused: bool = False


def load_policies(directory: Path, environ: Mapping[str, str]) -> RuleSet | tuple[Finding, ...]:
    """Load every `*.yaml` of a directory but `*.test.yaml`, or say everything that is wrong with them.

    Credentials come from `environ` and from the files that policies name. A directory that is missing, unreadable or
    without a policy is an error: an empty rule set would refuse every write, and nobody means that.
    """
    loaded = load_with(directory, Secrets(environ))
    return loaded.rules if isinstance(loaded, Loaded) else loaded


def load_with(
    directory: Path, secrets: Secrets, listeners: Listeners = (), former: Compiled | None = None
) -> Loaded | tuple[Finding, ...]:
    """As `load_policies`; `secrets` then tells which files of credentials were read. No upstream is at `listeners`.

    `former`: rules that are in force, and stay so where nothing that they were made of is another by now.
    """
    names = policy_files(directory)
    if isinstance(names, Finding):
        return (names,)
    contents = {path: _read(path) for path in names}
    of_callers = {path: contents.pop(path) for path in names if path.name == PRINCIPALS}
    is_reused = former is not None and former.made_of == _digests(contents) and secrets.still_hold(former.credentials)
    findings: dict[Path, tuple[Finding, ...]] = {}
    if former is not None and is_reused:
        policies = [of_another_term(policy) for policy in former.policies]
    else:
        compiled = {path: _compile_policy(path, content, secrets) for path, content in contents.items()}
        policies = [policy for policy in compiled.values() if isinstance(policy, Policy)]
        findings |= {path: found for path, found in compiled.items() if not isinstance(found, Policy)}
    credentials, principals = secrets.contents, Principals()
    for path, content in of_callers.items():
        who = _compile_principals(path, content, secrets)
        if isinstance(who, Principals):
            principals = who
        else:
            findings[path] = who
    every = [finding for path in names for finding in findings.get(path, ())]
    if not is_reused:
        every += [*lint(policies), *sent_to_itself(policies, listeners)]
    if every:
        return tuple(every)
    made = Compiled(tuple(policies), _digests(contents), credentials)
    return Loaded(build_ruleset(policies, principals), made, is_reused)


def policy_files(directory: Path) -> tuple[Path, ...] | Finding:
    """The policy files of a directory and the one with the principals, by name."""
    try:
        names = sorted(directory.iterdir())
    except OSError as error:
        return Finding(str(directory), 1, 1, f"the directory cannot be read ({error.strerror}); name another one")
    passed_over = [path for path in names if path.suffix == ".yml"]
    if passed_over:
        return Finding(str(passed_over[0]), 1, 1, "this file would not be read; let its name end in `.yaml`")
    policies = tuple(path for path in names if path.suffix == ".yaml" and not path.name.endswith(".test.yaml"))
    if not any(path.name != PRINCIPALS for path in policies):
        return Finding(str(directory), 1, 1, "there is no policy file here; write one that ends in `.yaml`")
    return policies


def read_file(path: Path) -> Source | tuple[Finding, ...]:
    """Read one YAML file."""
    return _source(path, _read(path))


def _read(path: Path) -> bytes | Finding:
    try:
        return path.read_bytes()
    except OSError as error:
        return Finding(str(path), 1, 1, f"the file cannot be read ({error.strerror}); make it readable")


def _digests(contents: Mapping[Path, bytes | Finding]) -> Mapping[Path, bytes]:
    """A file that cannot be read is another one than it was, or than none."""
    return {
        path: hashlib.sha256(content).digest() if isinstance(content, bytes) else b""
        for path, content in contents.items()
    }


def _source(path: Path, content: bytes | Finding) -> Source | tuple[Finding, ...]:
    if isinstance(content, Finding):
        return (content,)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return (Finding(str(path), line, 1, "this line is not UTF-8; save the file as UTF-8"),)
    return read_source(str(path), text)


def _compile_principals(path: Path, content: bytes | Finding, secrets: Secrets) -> Principals | tuple[Finding, ...]:
    source = _source(path, content)
    if not isinstance(source, Source):
        return source
    who = check_shape(source, schema.Principals)
    return compile_principals(source, who, secrets) if isinstance(who, schema.Principals) else who


def _compile_policy(path: Path, content: bytes | Finding, secrets: Secrets) -> Policy | tuple[Finding, ...]:
    source = _source(path, content)
    if not isinstance(source, Source):
        return source
    merged = apply_defaults(source)
    shape = check_shape(merged, schema.Policy)
    return compile_policy(merged, shape, secrets) if isinstance(shape, schema.Policy) else shape
