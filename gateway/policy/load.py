"""A directory of policy files becomes a rule set, whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from gateway.policy import schema
from gateway.policy.compile.file import compile_policy
from gateway.policy.compile.principals import compile_principals
from gateway.policy.defaults import apply_defaults
from gateway.policy.entry import Policy
from gateway.policy.finding import Finding
from gateway.policy.itself import Listeners, sent_to_itself
from gateway.policy.principals import Principals
from gateway.policy.review.lint import lint
from gateway.policy.ruleset import RuleSet, build_ruleset
from gateway.policy.secret import Secrets
from gateway.policy.shape import check_shape
from gateway.policy.source import Source, read_source

PRINCIPALS = "principals.yaml"


def load_policies(directory: Path, environ: Mapping[str, str]) -> RuleSet | tuple[Finding, ...]:
    """Load every `*.yaml` of a directory but `*.test.yaml`, or say everything that is wrong with them.

    Credentials come from `environ` and from the files that policies name. A directory that is missing, unreadable or
    without a policy is an error: an empty rule set would refuse every write, and nobody means that.
    """
    return load_with(directory, Secrets(environ))


def load_with(directory: Path, secrets: Secrets, listeners: Listeners = ()) -> RuleSet | tuple[Finding, ...]:
    """As `load_policies`; `secrets` then tells which files of credentials were read. No upstream is at `listeners`."""
    names = policy_files(directory)
    if isinstance(names, Finding):
        return (names,)
    findings: list[Finding] = []
    policies: list[Policy] = []
    principals = Principals()
    for path in names:
        loaded = _load_file(path, secrets)
        if isinstance(loaded, Policy):
            policies.append(loaded)
        elif isinstance(loaded, Principals):
            principals = loaded
        else:
            findings.extend(loaded)
    findings.extend(lint(policies))
    findings.extend(sent_to_itself(policies, listeners))
    return tuple(findings) if findings else build_ruleset(policies, principals)


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
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        return (Finding(str(path), 1, 1, f"the file cannot be read ({error.strerror}); make it readable"),)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return (Finding(str(path), line, 1, "this line is not UTF-8; save the file as UTF-8"),)
    return read_source(str(path), text)


def _load_file(path: Path, secrets: Secrets) -> Policy | Principals | tuple[Finding, ...]:
    source = read_file(path)
    if not isinstance(source, Source):
        return source
    if path.name == PRINCIPALS:
        who = check_shape(source, schema.Principals)
        return compile_principals(source, who, secrets) if isinstance(who, schema.Principals) else who
    merged = apply_defaults(source)
    shape = check_shape(merged, schema.Policy)
    return compile_policy(merged, shape, secrets) if isinstance(shape, schema.Policy) else shape
