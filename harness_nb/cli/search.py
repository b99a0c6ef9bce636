"""The command `search`: what a workspace remembers, from a terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness_nb.errors import StoreError
from harness_nb.store.hits import KINDS
from harness_nb.store.workspace import DEFAULT_PATH

if TYPE_CHECKING:
    from harness_nb.store.settings import Mode


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--workspace",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(DEFAULT_PATH),
    show_default=True,
    help="Folder to search.",
)
@click.option("--limit", metavar="N", type=int, default=10, show_default=True, help="Most hits.")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help=f"{', '.join(KINDS)}; may be repeated.")
@click.option(
    "--neighbours", metavar="N", type=int, default=0, help="Lines before and behind each hit, counted as hits."
)
@click.option("--mode", metavar="MODE", default="keyword", show_default=True, help="keyword, hybrid or auto.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a hit and nothing else.")
def search_command(
    query: tuple[str, ...],
    workspace: Path,
    limit: int,
    kinds: tuple[str, ...],
    neighbours: int,
    mode: Mode,
    as_json: bool,
) -> None:
    """Search the memory, the logs and the sessions of a workspace.

    Any text is a query; "quotes" keep a phrase together. Ends with exit code 1 when nothing was found.
    """
    from harness_nb.render.card import card_text
    from harness_nb.render.result_cards import hits_card
    from harness_nb.store.index import MemoryIndex
    from harness_nb.store.workspace import Workspace

    if not workspace.is_dir():
        raise StoreError(f"{str(workspace)!r} is no folder.", "Name a workspace with --workspace.", subject=workspace)
    with MemoryIndex.of(Workspace(workspace)) as index:
        hits = index.search(" ".join(query), limit=limit, kinds=kinds or None, neighbours=neighbours, mode=mode)
        for warning in index.warnings:
            click.echo(warning, err=True)
    if as_json:
        for record in hits.records:
            click.echo(json.dumps(record, default=str, ensure_ascii=False))
    else:
        click.echo(card_text(hits_card(hits)))
    sys.exit(not len(hits))
