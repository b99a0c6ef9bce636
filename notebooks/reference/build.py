"""Builds the reference site, warnings as errors: `python -m notebooks.reference.build [FOLDER]` (extra `docs`).

The site holds the pages of this folder and the notebooks as they are stored. It can be read and searched without a network.
"""

from __future__ import annotations

import sys
from pathlib import Path

from notebooks.reference import generated

NOTEBOOKS = Path(__file__).parent.parent
OUT = NOTEBOOKS.parent / "build" / "site"


def main(arguments: list[str]) -> int:
    """Writes the generated pages, then builds; gives the exit code of Sphinx."""
    from sphinx.cmd.build import build_main

    out = Path(arguments[0]) if arguments else OUT
    generated.main([])
    options = ["-b", "html", "-W", "--keep-going", "-q", "-c", str(generated.FOLDER)]
    code = build_main([*options, "-d", str(out.with_name(f"{out.name}-doctrees")), str(NOTEBOOKS), str(out)])
    if code == 0:
        sys.stdout.write(f"{out / 'reference' / 'index.html'}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
