"""A real JupyterLab in a real Chromium."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
CURRENT = "window.jupyterapp.shell.currentWidget"
SECONDS_TO_START = 60
SECONDS_FOR_CELLS = 60


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _settings(folder: Path) -> None:
    """No news, no updates, every cell rendered."""
    for name, value in {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")


class Lab:
    """A running JupyterLab.

    Attributes:
        url: Its address.
        folder: Where its notebooks are.
    """

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder

    def write(self, name: str, cells: list[str]) -> Path:
        """Writes a notebook."""
        book = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        book.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
        path = self.folder / name
        nbformat.write(book, path)
        return path


class Book:
    """A notebook open in the browser."""

    def __init__(self, page: Page, lab: Lab, name: str, place: str = "doc/tree") -> None:
        self.page = page
        self.foreign: list[str] = []
        page.on("request", self._look_at)
        page.goto(f"{lab.url}/{place}/{name}", wait_until="domcontentloaded")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
        page.wait_for_function(f"{CURRENT}?.content?.widgets?.length")
        page.evaluate("window.jupyterapp.shell.collapseLeft()")

    def _look_at(self, request: Any) -> None:
        if "127.0.0.1" not in request.url and not request.url.startswith(("data:", "blob:")):
            self.foreign.append(request.url)

    def run_all(self, *, wait: bool = True) -> None:
        """Runs all cells."""
        self.wait_for(
            f"{CURRENT}?.sessionContext?.isReady && {CURRENT}.sessionContext.session?.kernel?.status === 'idle'"
        )
        self.command("notebook:run-all-cells")
        if wait:
            self.wait_for(
                f"{CURRENT}.content.model.sharedModel.cells.every("
                "c => c.toJSON().execution_count) && !document.querySelector('.jp-Notebook').innerText.includes('[*]')"
            )

    def command(self, name: str) -> None:
        """Runs a command of JupyterLab without waiting for its end."""
        self.page.evaluate("name => { window.jupyterapp.commands.execute(name); }", name)

    def wait_for(self, condition: str) -> None:
        """Waits until a JavaScript expression is true."""
        self.page.wait_for_function(condition, timeout=SECONDS_FOR_CELLS * 1_000)

    def wait_for_text(self, cell: int, text: str) -> None:
        """Waits until something is read in a cell."""
        self.wait_for(f"document.querySelectorAll('.jp-Cell')[{cell}]?.innerText.includes({json.dumps(text)})")

    def outputs(self) -> list[list[dict[str, Any]]]:
        """The outputs of each cell, as they would be saved."""
        found: list[list[dict[str, Any]]] = self.page.evaluate(
            f"() => {CURRENT}.content.model.sharedModel.cells.map(c => c.toJSON().outputs || [])"
        )
        return found

    def text(self, cell: int) -> str:
        """What is read in the output of a cell."""
        return self.page.locator(".jp-Cell").nth(cell).locator(".jp-OutputArea").inner_text()


def value_of(book: Book, expression: str) -> str:
    """A value of the kernel, read back by a cell at the end of the notebook."""
    book.page.evaluate(
        f"source => {{ const cells = {CURRENT}.content.model.sharedModel; cells.insertCell(cells.cells.length, "
        "{cell_type: 'code', source}); }",
        expression,
    )
    number = book.page.evaluate(f"{CURRENT}.content.widgets.length - 1")
    book.page.evaluate(f"n => {{ {CURRENT}.content.activeCellIndex = n; }}", number)
    book.command("notebook:run-cell")
    book.wait_for(f"{CURRENT}.content.model.sharedModel.cells[{number}].toJSON().execution_count")
    book.wait_for(f"!document.querySelectorAll('.jp-Notebook .jp-Cell')[{number}].innerText.includes('[*]')")
    outputs = book.outputs()[number]
    return "".join(outputs[0].get("text") or outputs[0]["data"]["text/plain"]) if outputs else ""


@contextmanager
def running_lab(root: Path) -> Iterator[Lab]:
    """A JupyterLab without a token, on loopback, with all its files in a folder."""
    (root / "work").mkdir()
    _settings(root / "settings")
    port = _free_port()
    places = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces", "JUPYTER_RUNTIME_DIR": "run",
              "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "HOME": "home", "IPYTHONDIR": "ipython"}  # fmt: skip
    env = dict(os.environ) | {name: str(root / folder) for name, folder in places.items()}
    (root / "home").mkdir()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--allow-root",
               "--IdentityProvider.token=", "--ServerApp.password=", "--LabApp.expose_app_in_browser=True",
               "--JupyterNotebookApp.expose_app_in_browser=True", f"--ServerApp.root_dir={root / 'work'}"]  # fmt: skip
    with (root / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, env=env)
        try:
            _wait_for_server(f"http://127.0.0.1:{port}/api", root / "log")
            yield Lab(f"http://127.0.0.1:{port}", root / "work")
        finally:
            server.terminate()
            server.wait(20)


@pytest.fixture(scope="session")
def lab(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab."""
    with running_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab


def _wait_for_server(url: str, log: Path) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(url, timeout=1).close()  # noqa: S310 - our own server
            return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A Chromium without a window, of one module: its driver keeps an event loop running in this thread until it ends."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_book(lab: Lab, browser: Browser) -> Iterator[Callable[..., Book]]:
    """Opens a notebook made of cells; its errors on the page, and what it asks of other computers, fail the test."""
    errors: list[str] = []
    books: list[Book] = []

    def opened(name: str, cells: list[str] | None = None, *, width: int = 1100, place: str = "doc/tree") -> Book:
        if cells is not None:
            lab.write(name, cells)
        page = browser.new_page(viewport={"width": width, "height": 1600})
        if place == "doc/tree":  # Notebook 7 itself stumbles over settings of JupyterLab
            page.on("pageerror", lambda error: errors.append(str(error)))
        books.append(Book(page, lab, name, place))
        return books[-1]

    yield opened
    foreign = [url for book in books for url in book.foreign]
    for book in books:
        book.page.close()
    assert foreign == [], "something left the machine"
    assert errors == []
