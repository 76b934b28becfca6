"""What is closed stays closed where a server finds it in a path that goes on behind it, or ends before its own end."""

import json

import pytest

from gateway.core.caller import Caller
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {path: /m, encoded_slash: opaque}
closed:
  - match: ["GET,POST /m/docs", "GET,POST /m/docs/"]
  - match: GET,POST /m/docs/publish_all
  - match: GET,POST /m/cron.php
  - {match: "GET,POST /m/{kind}/{id}/purge", when: {query: {force: {present: true}}}}
  - {match: POST /m/docs/send, when: {json: {/mail: {present: true}}}}
  - match: DELETE /m/files/{id}
writes:
  - {name: doc, match: "POST /m/docs/{id}", resource: "doc/{path.id}", values: any}
  - {name: part, match: "POST /m/docs/{id}/{part}", resource: "doc/{path.id}", values: any}
  - {name: note, match: "POST /m/docs/publish_all/notes/{note}", resource: notes}
  - {name: only, match: "POST /m/lists/{id}", resource: lists, only: {query: [page]}}
  - {name: page, match: "POST /m/{page}", resource: "page/{path.page}", values: any}
  - {name: rest, match: "POST /m/{kind}/{rest...}", resource: any}
  - {name: file, match: "DELETE /m/files/{id}/{rest...}", resource: files}
  - {name: index, match: POST /m/docs/7/index, resource: docs}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("actions"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/m/docs/publish_all", "no-policy"),
        ("/m/docs/publish_all/x", "ambiguous-target"),
        ("/m/docs/publish-all/x", "ambiguous-target"),
        ("/m/docs/PublishAll/x/y", "ambiguous-target"),
        ("/m/docs/publish%20all/x", "ambiguous-target"),
        ("/m/docs/publish_all%2Fx", "ambiguous-target"),
        ("/m/index.php/docs/publish_all/x", "ambiguous-target"),
        ("/m/docs/publish_all/notes/7", "note"),
        ("/m/docs/publish_some/x", "part"),
        ("/m/other/publish_all/x", "rest"),
        ("/m/docs/7", "doc"),
        ("/m/docs/7/x", "part"),
        ("/m/docs/7/x/y", "ambiguous-target"),
        ("/m/any/7/purge/x", "rest"),
        ("/m/any/7/purge/x?force", "ambiguous-target"),
        ("/m/any/7/purge/x?Force=1", "ambiguous-target"),
    ],
)
def test_what_follows_a_closed_action_may_be_its_arguments(ruleset: RuleSet, target: str, found: str) -> None:
    """To CherryPy, CakePHP and CodeIgniter; what a rule itself names in text is meant as it is."""
    assert name_of(ruleset.match(request("POST", target), Caller())) == found


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "target",
    [
        *(f"/m/docs/publish_all{end}" for end in ("..", "%20.", ".php.", "/index/index", "/index/x")),
        *("/m/index.php/index.php/docs/publish_all", "/m/(S(x))/(A(y))/docs/publish_all", "/m/docs./publish_all"),
        *("/m/index.php/docs/publish-all", "/m/(S(x))/docs/publish_all.php", "/m/Index.php/(S(x))/docs/Publish_All."),
    ],
)
def test_several_of_what_servers_drop_are_dropped(ruleset: RuleSet, method: str, target: str) -> None:
    """One behind the other, and of several kinds."""
    assert name_of(ruleset.match(request(method, target), Caller())) == "ambiguous-target"


@pytest.mark.parametrize("target", ["/m/docs/publish_all/x", "/m/docs/7", "/m/any/7/purge/x?force", "/m/files/7/x"])
def test_a_read_behind_a_closed_one_is_another(ruleset: RuleSet, target: str) -> None:
    """Who closes a list of documents closes none of them."""
    assert name_of(ruleset.match(request("GET", target), Caller())) == "read"


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/m/docs/index", "ambiguous-target"),
        ("/m/docs/Index", "ambiguous-target"),
        ("/m/docs/-index", "ambiguous-target"),
        ("/m/docs/index.html", "ambiguous-target"),
        ("/m/docs/default", "ambiguous-target"),
        ("/m/docs/Default.aspx", "ambiguous-target"),
        ("/m/docs%2Findex", "ambiguous-target"),
        ("/m/docs/index/x", "ambiguous-target"),
        ("/m/docs/index%20HTTP/1.0", "ambiguous-target"),
        ("/m/docs/indices", None),
        ("/m/docs/default/x", None),
        ("/m/docs/7/index.html", None),
        ("/m/other/index", None),
    ],
)
def test_the_index_of_what_is_closed_is_closed(ruleset: RuleSet, target: str, found: str | None) -> None:
    """Reads too. `default` with something behind it is the name of much else."""
    assert name_of(ruleset.match(request("GET", target), Caller())) == (found or "read")
    assert name_of(ruleset.match(request("POST", target), Caller())) in ((found,) if found else ("doc", "part", "rest"))


@pytest.mark.parametrize(
    ("method", "target", "found"),
    [
        ("POST", "/m/docs/7/index", "index"),
        ("DELETE", "/m/files/index.html", "no-policy"),
        ("DELETE", "/m/files/7/index.html", "file"),
        ("DELETE", "/m/files/7/default", "file"),
    ],
)
def test_what_ends_in_a_placeholder_has_no_index(ruleset: RuleSet, method: str, target: str, found: str) -> None:
    """A bucket's file may be called `index.html`, though nobody may delete a bucket."""
    assert name_of(ruleset.match(request(method, target), Caller())) == found


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/m/docs/publish_all%20HTTP/1.0", "ambiguous-target"),
        ("/m/docs/publish-all%20x", "ambiguous-target"),
        ("/m/docs%20HTTP/1.0", "ambiguous-target"),
        ("/m/docs/send%20HTTP/1.0", "needs body"),
        ("/m/docs/publish_alls%20x", "doc"),
        ("/m/docs/a%20plan", "doc"),
        ("/m/other/publish%20all", "rest"),
        ("/m/lists/a%20list?page=2", "only"),
    ],
)
def test_a_blank_ends_the_path_of_what_is_closed(ruleset: RuleSet, target: str, found: str) -> None:
    """Behind a proxy that sends it undone; any other name may have one."""
    asked = request("POST", target, ("Content-Type", "application/json"), ("Content-Length", "9"))

    assert name_of(ruleset.match(asked, Caller())) == found


@pytest.mark.parametrize("target", ["/m/docs/send/x", "/m/docs/send%20HTTP/1.0"])
@pytest.mark.parametrize(
    ("body", "found"), [({"mail": 1}, "ambiguous-target"), ({"Mail": 1}, "ambiguous-target"), ({"a": 1}, None)]
)
def test_a_condition_on_the_body_holds_there_too(
    ruleset: RuleSet, target: str, body: dict[str, int], found: str | None
) -> None:
    """What the closed entry does not take is no server's to run by it."""
    asked = request("POST", target, body=json.dumps(body))

    assert name_of(ruleset.match(asked, Caller())) in ((found,) if found else ("doc", "part", "rest"))


@pytest.mark.parametrize(
    ("method", "target", "found"),
    [
        ("GET", "/m/cron", "ambiguous-target"),
        ("GET", "/m/Cron/", "ambiguous-target"),
        ("OPTIONS", "/m/cron", "ambiguous-target"),
        ("OPTIONS", "/m/cron.php", "reads-denied"),
        ("GET", "/m/crons", "read"),
        ("POST", "/m/cron", "ambiguous-target"),
        ("POST", "/m/cron%20x", "ambiguous-target"),
        ("POST", "/m/crons", "page"),
        ("POST", "/m/cron/x", "rest"),
    ],
)
def test_a_closed_program_is_closed_by_its_bare_name(ruleset: RuleSet, method: str, target: str, found: str) -> None:
    """Apache's MultiViews and nginx's `try_files $uri $uri.php` add the ending."""
    assert name_of(ruleset.match(request(method, target), Caller())) == found
