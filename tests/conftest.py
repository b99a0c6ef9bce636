"""Every test runs in a place of its own: no home, no keys, no network, and nothing left running afterwards."""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from harness_nb.core.clock import Clock
from tests.gates import find_chromium, skip_or_fail

settings.register_profile("any computer", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any computer")  # a busy one is slow, and that is no fault of what is tested

MARKER_OF_FIXTURE = {"data": "data", "chromium": "browser"}

PROVIDER_VARIABLE = re.compile(
    r"(_API_KEY|_API_BASE|_BASE_URL|_ACCESS_TOKEN|_AUTH_TOKEN|_SECRET_ACCESS_KEY)$"
    r"|^(ANTHROPIC|AWS|AZURE|CLOUDSDK|COHERE|DATABRICKS|GEMINI|GOOGLE|GROQ|HF|LITELLM|MISTRAL|OLLAMA|OPENAI|OPENROUTER|VERTEX)_"
    r"|^(ALL|FTP|HTTP|HTTPS|NO)_PROXY$",
    re.IGNORECASE,
)
OWN_VARIABLES_KEPT = {"HARNESS_NB_DATA", "HARNESS_NB_STRICT"}

THREADS_THAT_MAY_STAY = {
    "Dask-Offload": "the one worker of an executor that dask keeps until the interpreter ends",
    "IPythonHistorySavingThread": "an in-process shell keeps it until the interpreter ends",
    "asyncio_": "worker of a loop's executor, ended by the loop when it is closed",
    "harness_nb-loop": "the one loop of all agents in this process, a daemon, stopped when the interpreter ends",
    "tqdm_monitor": "a daemon that tqdm starts once a process",
}
SECONDS_TO_END = 2.0


class NetworkUse(RuntimeError):
    """A test tried to reach beyond this computer."""


class _Network:
    """Whether the running test may reach beyond this computer; asked by an audit hook, which can't be taken off again."""

    is_allowed = False


def _is_here(host: object) -> bool:
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode()
    if not isinstance(host, str) or host in ("", "localhost"):
        return True  # no address, a path of a Unix socket, or this computer
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket.") or _Network.is_allowed:
        return
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if not _is_here(host):
        raise NetworkUse(f"{event} to {host!r}: tests use loopback only; mark the test `network` if it must.")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the data folder's path absolute, as every test changes the working directory, and cuts the network off."""
    if folder := os.environ.get("HARNESS_NB_DATA"):
        os.environ["HARNESS_NB_DATA"] = str(Path(folder).resolve())
    sys.addaudithook(_refuse_network)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests by the fixtures they use."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if marker := MARKER_OF_FIXTURE.get(fixture):
                item.add_marker(marker)


@pytest.fixture(scope="session", autouse=True)
def place() -> Iterator[Path]:
    """A short temporary folder for the whole run, as sockets of kernels allow no long path; the environment is cleaned."""
    with (
        tempfile.TemporaryDirectory(prefix="hnb-", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        place = Path(folder).resolve()
        for name in list(os.environ):
            if PROVIDER_VARIABLE.search(name) or (name.startswith("HARNESS_NB_") and name not in OWN_VARIABLES_KEPT):
                patch.delenv(name)
        patch.delenv("PYTHONWARNDEFAULTENCODING", raising=False)  # for this process, not for the kernels it starts
        _move_home(patch, place)
        for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            (place / name).mkdir()
            patch.setenv(name, str(place / name))
        yield place


@pytest.fixture(autouse=True)
def _own_place(request: pytest.FixtureRequest, place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Home and working directory of this test alone, and the network only where the test is marked so."""
    own = Path(tempfile.mkdtemp(prefix="t-", dir=place))
    (own / "cwd").mkdir()
    _move_home(monkeypatch, own)
    monkeypatch.chdir(own / "cwd")
    monkeypatch.setattr(_Network, "is_allowed", request.node.get_closest_marker("network") is not None)
    yield


def _move_home(patch: pytest.MonkeyPatch, folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE"):
        patch.setenv(name, str(home))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        patch.setenv(name, str(home / name.lower()))
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        patch.setenv(name, str(home / name.lower()))


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    """Fails a test that leaves a thread behind, or a task or transport that asyncio complains of."""
    before = set(threading.enumerate())
    complaints: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: complaints.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("asyncio")
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    left = _threads_left(before)
    assert not left, f"threads left running: {left}"
    assert not complaints, f"asyncio complained: {complaints}"


def _threads_left(before: set[threading.Thread]) -> list[str]:
    """Names of the threads that are new, not known to stay, and do not end within the time given to them."""
    end = time.monotonic() + SECONDS_TO_END
    left = [thread for thread in threading.enumerate() if thread not in before and not _may_stay(thread)]
    for thread in left:
        thread.join(max(0.0, end - time.monotonic()))
    return [thread.name for thread in left if thread.is_alive()]


def _may_stay(thread: threading.Thread) -> bool:
    return thread.name.startswith(tuple(THREADS_THAT_MAY_STAY))


@pytest.fixture
def clock() -> Clock:
    """A clock that stands at 2026-04-12 09:30 UTC, a Sunday."""
    return Clock.fixed(datetime(2026, 4, 12, 9, 30, tzinfo=UTC))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder for one workspace, alone in its parent."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of recorded conversations that HARNESS_NB_DATA names."""
    folder = os.environ.get("HARNESS_NB_DATA")
    if not folder:
        skip_or_fail("HARNESS_NB_DATA names no folder of recorded conversations.")
    if not Path(folder).is_dir():
        skip_or_fail(f"HARNESS_NB_DATA names {folder!r}, which is no folder.")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium to drive; start it with `--no-sandbox` when root."""
    return find_chromium()
