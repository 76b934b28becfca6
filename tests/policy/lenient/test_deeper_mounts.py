"""At which paths a mount below another one is found by a server that reads leniently."""

import pytest

from gateway.core.rule import Mount
from gateway.core.target import Target, read_target
from gateway.policy.lenient.deeper_mounts import DeeperMounts

MOUNTS = (
    *(Mount(("api", "admin")), Mount(("api", "v1.0")), Mount(("api", "back_office"))),
    Mount(("api", "hosted", "x"), host="a.example"),
)


def target(path: str) -> Target:
    read = read_target(path)
    assert isinstance(read, Target)
    return read


@pytest.mark.parametrize(
    ("path", "plainly", "decoded", "read"),
    [
        ("/api", False, False, False),
        ("/api/other/admin", False, False, False),
        ("/api/ADMIN", True, True, False),
        ("/api/admin/7", True, True, False),
        ("/api/administrator", False, False, False),
        ("/api/admin%2Fpurge", False, True, True),
        ("/api/%2Fadmin/x", True, True, True),
        ("/api/%2F/admin/x", False, True, True),
        ("/api/%2561dmin", False, True, True),
        ("/api%252FAdmin%252Fpurge", False, True, True),
        ("/api/admin.json", False, False, True),
        ("/api/admin.PHP/7", False, False, True),
        ("/api/admin.7", False, False, True),
        ("/api/admin.a2345678901", False, False, True),
        ("/api/admin.json.gz", False, False, True),
        ("/api/admin.x-y", False, False, True),
        ("/api/admin.", True, True, True),
        ("/api/admin%20.json", False, False, True),
        ("/api/admin%252Ejson%2520", False, False, True),
        ("/api/admin%20", True, True, True),
        ("/api/%20admin/x", True, True, True),
        ("/api/admin%253Bx/7", False, True, True),
        ("/api/admin%2500x/7", False, True, True),
        ("/api/admin%E2%80%8B", False, True, True),
        ("/api.json/admin", False, False, False),
        ("/api/v1.0", True, True, True),
        ("/api/v1.0.json", False, False, True),
        ("/api/v1", False, False, False),
        ("/api/v1-0", True, True, False),
        ("/api/back-office/7", True, True, False),
        ("/api/back.office", True, True, True),
        ("/api/back-offices", False, False, False),
        ("/api/backOffice/7", True, True, False),
        ("/api/back%20office/7", True, True, True),
        ("/api/back+office/7", True, True, False),
        ("/api/back%2520office/7", False, True, True),
        ("/api/back%20offices", False, False, False),
        ("/api/admin%3Fx", False, False, True),
        ("/api/admin%23", True, True, True),
        ("/api/Admin%253Fx/7", False, False, True),
        ("/api/admin&x=1", False, False, True),
        ("/api/admin%26x", False, False, True),
        ("/api/index.php/admin.json%3Fx", False, False, True),
        ("/api/x%3Fadmin", False, False, False),
        ("/api/admin%20HTTP/1.0", False, False, True),
        ("/api/Admin%2520x/7", False, False, True),
        ("/api/admins%20x", False, False, False),
        ("/api%3Fx/admin", False, False, False),
        ("/api/hosted/x%3Fq", False, False, True),
        ("/api/adm%C4%B1n", True, True, True),
        ("/api/index.php/admin/7", False, False, True),
        ("/api/(S(x))/Admin", False, False, True),
        ("/api/index.php%2Fadmin", False, False, True),
        ("/api/index.php/admin.json", False, False, True),
        ("/api/admin.wsgi/7", False, False, True),
        ("/index.php/api/other", False, False, False),
        ("/api/hosted/x", False, False, False),
        ("/api/hosted/X", True, True, False),
        ("/api/hosted/x.json", False, False, True),
    ],
)
def test_a_mount_is_found_where_such_a_server_finds_it(path: str, plainly: bool, decoded: bool, read: bool) -> None:
    """Writes are told from it by case and escapes, reads also by what stands at its segment's end. `take` has the plain
    ones of those, and of a mount of some host only another spelling."""
    mounts = DeeperMounts(MOUNTS, opaque_slash=False)

    assert mounts.take(target(path)) is plainly
    assert mounts.take_decoded(target(path)) is decoded
    assert mounts.take_read(target(path)) is read


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("/api/index.php/admin/7", True),
        ("/api/(S(x))/admin", True),
        ("/api/admin.php/7", True),
        ("/api/%28S(x))/adm%C4%B0n.php", True),
        ("/api/admin.json", False),
        ("/api/index.php/other", False),
        ("/api/hosted/index.php/x", True),
        ("/api/hosted/x", False),
        ("/api/other", False),
    ],
)
def test_a_program_or_a_session_in_a_path_hides_no_mount(path: str, taken: bool) -> None:
    """Of a write, which is told by nothing else that a server drops."""
    assert DeeperMounts(MOUNTS, opaque_slash=False).take_shortened(target(path)) is taken


@pytest.mark.parametrize(
    ("path", "decoded"),
    [("/api/admin%252Fpurge", False), ("/api/%2561dmin/7", True), ("/api/admin%255Cpurge", True)],
)
def test_an_opaque_slash_parts_no_segments_of_a_write(path: str, decoded: bool) -> None:
    """However often it is escaped; a read it could still lead to an API that must not be read."""
    mounts = DeeperMounts(MOUNTS, opaque_slash=True)

    assert mounts.take_decoded(target(path)) is decoded
    assert mounts.take_read(target(path))
