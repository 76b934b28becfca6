"""GET operations that are called as what writes."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.load import load_policies
from gateway.policy.openapi.policy_text import PolicyText, policy_text
from gateway.policy.openapi.writing_read import closings, told_closings, writing_read
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import request
from tests.policy.openapi.documents import document


@pytest.mark.parametrize(
    ("path", "operation_id", "summary", "found"),
    [
        ("/users/{id}/delete", "deleteUser", "Delete a user", "closed: delete"),
        ("/users/{id}/delete", "", "", "closed: delete"),
        ("/users/{id}/delete/", "usersIdDeleteGet", "", "closed: delete"),
        ("/users:purge", "", "", "closed: purge"),
        ("/u/{id}", "UsersController_remove", "", "closed: remove"),
        ("/u/{id}", "Users_Delete", "", "closed: delete"),
        ("/u/{id}", "api.users.create", "", "closed: create"),
        ("/u/{id}", "delete_user_u__id__get", "", "closed: delete"),
        ("/u/{id}", "cancelReasons", "Lists why a user may cancel", "asked: cancel"),
        ("/u/{id}", "", "Deletes a user", "asked: delete"),
        ("/cancel-reasons", "", "", "asked: cancel"),
        ("/jobs/{id}/run", "runJob", "Starts the job", "asked: run"),
        ("/jobs/{id}/run", "", "", "asked: run"),
        ("/jobs/{id}:run", "", "", "asked: run"),
        ("/jobs/{id}", "", "Starts the job", "asked: start"),
        ("/run/{id}", "", "", None),
        ("/runs", "", "", None),
        ("/reports/{id}", "runReport", "Returns a report", None),
        ("/jobs/{id}/run", "getRun", "Run of a job", None),
        ("/jobs/{id}/run", "", "Get the run of a job", None),
        ("/users/{id}/delete", "getUsersIdDelete", "", "asked: delete"),
        ("/orders/{order_id}/cancel", "get_orders_order_id_cancel", "", "asked: cancel"),
        ("/orders/{orderId}/ship", "getOrdersByOrderIdShip", "", "asked: ship"),
        ("/unsubscribe/{user_id}", "get_unsubscribe_user_id", "", "asked: unsubscribe"),
        ("/cache/clear", "get-cache-clear", "", "asked: clear"),
        ("/sync", "get_sync", "", "asked: sync"),
        ("/orders/{id}/cancel", "get_orders_id_cancel", "Shows who cancelled", "asked: cancel"),
        ("/orders/{id}", "get_orders_id", "", None),
        ("/users/{id}/delete", "getDelete", "", None),
        ("/items/{id}/rebuild", "rebuild_item_items__id__rebuild_get", "", "closed: rebuild"),
        ("/confirm/{token}", "", "", "asked: confirm"),
        ("/confirm/{emailToken}/", "", "", "asked: confirm"),
        ("/users", "listUsers", "", None),
        ("/users", "repos/get", "Create, delete and list", None),
        ("/users", "searchUsers", "", None),
        ("/users/{id}/settings", "", "", None),
        ("", "", "", None),
    ],
)
def test_what_looks_like_a_write(path: str, operation_id: str, summary: str, found: str | None) -> None:
    """The id's verb counts first, then the summary's and the path's end; what is called a read is one."""
    read = writing_read(path, operation_id, summary)

    assert (read and f"{'closed' if read.is_sure else 'asked'}: {read.word}") == found


def proposed(directory: Path, paths: Any, **more: Any) -> PolicyText:
    return policy_text(document(directory, paths, **more), "a.json", "up")


PATHS: dict[str, Any] = {
    "/users/{id}": {"get": {"operationId": "getUser"}, "put": {}},
    "/users/{id}/delete": {"get": {"operationId": "deleteUser"}},
    "/jobs/{id}/run": {"get": {"operationId": "runJob"}},
}


def decided(text: str, directory: Path, *targets: str) -> list[str]:
    (directory / "policy.yaml").write_text(text)
    loaded = load_policies(directory, {})
    assert isinstance(loaded, RuleSet), loaded
    return [answer(loaded, request("GET", target), NOBODY).decision for target in targets]


def test_a_read_that_writes_is_closed_and_one_that_may_is_asked_about(tmp_path: Path) -> None:
    """The line of that one has to be uncommented; all other reads pass."""
    policy = proposed(tmp_path, PATHS)

    targets = "/up/users/7/delete", "/up/jobs/7/run", "/up/users/7"
    assert decided(policy.text, tmp_path, *targets) == ["reads-denied", "passed", "passed"]
    opened = policy.text.replace("  # - match: ", "  - match: ")
    assert decided(opened, tmp_path, *targets) == ["reads-denied", "reads-denied", "passed"]
    assert [line.partition(": ")[0] for line in policy.open if "GET " in line] == [
        "GET /users/{id}/delete",
        "GET /jobs/{id}/run",
    ]


def test_where_none_is_sure_the_list_is_commented_too(tmp_path: Path) -> None:
    """It loads before and after."""
    policy = proposed(tmp_path, {"/jobs/{id}/run": PATHS["/jobs/{id}/run"]})

    assert decided(policy.text, tmp_path, "/up/jobs/7/run") == ["passed"]
    opened = policy.text.replace("  # - match: ", "  - match: ").replace("# closed:", "closed:")
    assert decided(opened, tmp_path, "/up/jobs/7/run") == ["reads-denied"]


def test_hints_and_other_servers_are_heeded(tmp_path: Path) -> None:
    """What the document calls read-only is a read, and another server's is another policy's."""
    hinted = {"/a/delete": {"get": {"x-read-only": True}}}
    elsewhere = {"/b/delete": {"get": {"servers": [{"url": "https://b.example"}]}}}
    own = {"/c/delete": {"get": {"servers": [{"url": "https://api.example/v1"}]}}}

    assert [str(each) for each in document(tmp_path, {**hinted, **elsewhere, **own}).reads] == ["GET /c/delete"]


def test_many_are_three_questions_at_most() -> None:
    """And what no match can name is told apart."""
    called = [f"/a{at}/{{id}}/{word}" for at in range(9) for word in ("delete", "run")]
    found = [writing_read(path, "", "") for path in (*called, "/a0/{x}/delete", "/b/{id}:delete", "/c?op=delete")]

    asked = list(told_closings(closings((one for one in found if one is not None), "up")))

    assert [line.count("GET ") for line in asked] == [5, 5, 1]
    assert [" and 4 more: " in line for line in asked] == [True, True, False]
