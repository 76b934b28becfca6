"""What the kernel says of a process is read."""

import os
import socket
import sys
from pathlib import Path

import pytest

from tests.bench.process import Failed, free_port, read_cpu_ticks, read_parent, read_status_kib, serving
from tests.process import is_alive

_STAT = "17 (a) (name) S 1 17 17 0 -1 4194560 100 0 0 0 {user} {system} 0 0 20 0 1 0 500 1000 20"
_SERVER = "import socket, time; s = socket.create_server(('127.0.0.1', {port})); time.sleep(60)"


def test_cpu_is_user_and_system_time() -> None:
    """The name of a process may look like the end of it."""
    assert read_cpu_ticks(_STAT.format(user=30, system=12)) == 42


def test_a_parent_is_told_apart_from_the_name() -> None:
    """As above."""
    assert read_parent(_STAT.format(user=30, system=12)) == 1


def test_a_missing_field_is_no_zero() -> None:
    """A process without memory has none to be measured."""
    assert read_status_kib("Name:\tx\nVmRSS:\t  2048 kB\n", "VmRSS") == 2048
    with pytest.raises(ValueError, match="VmRSS"):
        read_status_kib("Name:\tx\n", "VmRSS")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_server_lives_as_long_as_its_block(tmp_path: Path) -> None:
    """It listens when the block begins, and has ended with it, whatever ended the block."""
    port = free_port()
    command = [sys.executable, "-S", "-c", _SERVER.format(port=port)]

    with pytest.raises(KeyboardInterrupt), serving(command, tmp_path / "log", port) as pid:
        socket.create_connection(("127.0.0.1", port)).close()
        assert os.getpgid(pid) != os.getpgid(0)
        raise KeyboardInterrupt

    assert not is_alive(pid)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_server_that_does_not_come_up_is_told_with_what_it_said(tmp_path: Path) -> None:
    """Nobody should have to look for its log in a directory that is gone."""
    command = [sys.executable, "-S", "-c", "import sys; sys.exit('no such thing')"]

    with pytest.raises(Failed, match="no such thing"), serving(command, tmp_path / "log", free_port()):
        pass
