"""The tests' own surroundings hold what they promise."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest

from tests.conftest import NetworkUse, _threads_left
from tests.gates import skip_or_fail


def test_home_and_working_directory_are_temporary(place: Path) -> None:
    assert Path.home().is_relative_to(place)
    assert Path.cwd().is_relative_to(place)
    assert os.listdir() == []


def test_no_provider_variable_is_left() -> None:
    assert [name for name in os.environ if name.endswith("_API_KEY")] == []


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1"])
def test_a_connection_beyond_this_computer_is_refused(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as beyond, pytest.raises(NetworkUse, match="loopback only"):
        beyond.connect((host, 9))


def test_a_name_beyond_this_computer_is_not_looked_up() -> None:
    with pytest.raises(NetworkUse, match="example.invalid"):
        socket.getaddrinfo("example.invalid", 443)


def test_loopback_is_allowed() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    with server, socket.create_connection(("localhost", server.getsockname()[1])) as client:
        assert client.getpeername()[0] == "127.0.0.1"


def test_a_thread_that_stays_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.conftest.SECONDS_TO_END", 0.05)
    before, end = set(threading.enumerate()), threading.Event()
    thread = threading.Thread(target=end.wait, name="stays")
    thread.start()
    assert _threads_left(before) == ["stays"]
    end.set()
    thread.join()
    assert _threads_left(before) == []


def test_what_is_missing_skips_and_in_a_strict_run_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_NB_STRICT", "0")
    with pytest.raises(pytest.skip.Exception, match="no moon"):
        skip_or_fail("no moon")
    monkeypatch.setenv("HARNESS_NB_STRICT", "1")
    with pytest.raises(pytest.fail.Exception, match="no moon"):
        skip_or_fail("no moon")
