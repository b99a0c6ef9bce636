"""What the index costs beside bare FTS5 in the same run: `python tests/benchmarks/index_speed.py [--hybrid]`.

Lines are made of words as frequent as in prose, with some words in all lines, in a tenth and in fewer. Bare FTS5 is SQLite
with the same tables and nothing else: no files looked at, nothing cut down, marked or put in order. `--hybrid` also makes
vectors of a million lines, which takes minutes. Exits 1 when a figure is not kept.
"""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from harness_nb import MemoryIndex
from harness_nb.store import database

RUNS = 200
OLD = 1_700_000_000  # seconds: files that did not change lately

STOP_WORDS = ("the", "of the", "and the of", "to be or not to be", "what is it that the")
TENTHS = ("tenthone tenthtwo", "tenthone", "tenthtwo", "the tenthone of tenthtwo", "tenthone OR tenthtwo")
OTHERS = ("hundredone tenthone", "rareone", "rareone the", "rareone hundredone tenthtwo", "hundredone hundredtwo")


def make_lines(count: int) -> Iterator[str]:
    """Lines of about a dozen words."""
    chance = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(40_000)]
    weights = list(itertools.accumulate(1 / (place + 8) for place in range(len(words))))
    shares = {"the": 0.95, "of": 0.5, "and": 0.5, "to": 0.4, "be": 0.2, "it": 0.2, "tenthone": 0.1, "tenthtwo": 0.1}
    shares |= {"hundredone": 0.01, "hundredtwo": 0.01, "rareone": 0.0002}
    for _ in range(count):
        line = chance.choices(words, cum_weights=weights, k=10)
        line += [word for word, share in shares.items() if chance.random() < share]
        chance.shuffle(line)
        yield "- " + " ".join(line)


def write_files(folder: Path, lines: int, files: int) -> None:
    """Writes lines as logs of past days."""
    made = make_lines(lines)
    for number in range(files):
        name = f"memory/{2000 + number // 336}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}.md"
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(itertools.islice(made, lines // files)) + "\n", encoding="utf-8")
        os.utime(folder / name, (OLD, OLD))
    os.utime(folder, (OLD, OLD))
    os.utime(folder / "memory", (OLD, OLD))


def seconds(run: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def bare_bulk(folder: Path, path: Path) -> None:
    """Reads the files and fills the same tables, in one transaction, with bare SQLite."""
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA journal_mode = WAL")
    raw.execute("PRAGMA synchronous = NORMAL")
    raw.executescript(database._SCHEMA)
    raw.execute("BEGIN")
    id = itertools.count(1)
    for doc, file in enumerate(sorted(folder.rglob("*.md"))):
        lines = file.read_text(encoding="utf-8").split("\n")
        rows = ((next(id), doc, number, file.stem, line) for number, line in enumerate(lines, 1) if line)
        raw.executemany("INSERT INTO line (id, doc, line, date, text) VALUES (?, ?, ?, ?, ?)", rows)
    raw.execute("INSERT INTO line_fts (rowid, body) SELECT id, body FROM body")
    raw.execute("COMMIT")
    raw.close()


class Table:
    """The figures, printed as they come."""

    def __init__(self) -> None:
        self.is_kept = True

    def row(self, name: str, figure: float, unit: str, least: float | None = None, most: float | None = None) -> None:
        """Prints a figure and whether it is within its bound."""
        is_kept = (least is None or figure >= least) and (most is None or figure <= most)
        bound = f"at least {least:g}" if least is not None else f"at most {most:g}" if most is not None else ""
        self.is_kept &= is_kept
        verdict = "" if not bound else "ok" if is_kept else "NOT KEPT"
        print(f"{name:<72} {figure:10.2f} {unit:<8} {bound:<14} {verdict}".rstrip(), flush=True)


@contextmanager
def workspace(lines: int, files: int) -> Iterator[Path]:
    """A folder with files, not indexed."""
    with tempfile.TemporaryDirectory() as name:
        write_files(Path(name), lines, files)
        yield Path(name)


def measure_bulk(table: Table, lines: int) -> None:
    """The rate of the first indexing, above that of bare FTS5."""
    ours, bare = [], []
    with workspace(lines, 100) as folder, tempfile.TemporaryDirectory() as other:
        for run in range(5):
            bare.append(seconds(lambda run=run: bare_bulk(folder, Path(other) / f"bare{run}.db")))
            with MemoryIndex(folder, database=Path(other) / f"ours{run}.db") as index:
                ours.append(seconds(index.refresh))
    rate, bare_rate = lines / statistics.median(ours), lines / statistics.median(bare)
    table.row(f"bulk, {lines:,} lines: bare FTS5", bare_rate, "lines/s")
    table.row(f"bulk, {lines:,} lines: ours", rate, "lines/s")
    table.row("  in % of bare", 100 * rate / bare_rate, "%", least=80)


_BARE = """
SELECT found.rowid, found.rank, line.text, doc.path, line.line, found.excerpt
FROM (SELECT rowid, rank, snippet(line_fts, 0, '[', ']', '…', 30) AS excerpt FROM line_fts WHERE line_fts MATCH ?
      ORDER BY rank LIMIT 10) AS found
JOIN line ON line.id = found.rowid JOIN doc ON doc.id = line.doc ORDER BY found.rank
"""


def settle(index: MemoryIndex) -> None:
    """Takes in all files, and once more when the folder in which the index was made does not count as changing any more."""
    index.refresh()
    time.sleep(2.1)
    index.refresh()


def measure_search(table: Table, lines: int) -> None:
    """A search beside bare FTS5 on the same file, one after the other, for words of all frequencies."""
    chance = random.Random(3)
    with workspace(lines, 100) as folder, MemoryIndex(folder) as index:
        settle(index)
        text = sorted(folder.rglob("*.md"))[50].read_text(encoding="utf-8").split()
        words = sorted({word for word in text if word not in ("the", "of", "and", "to", "be", "it", "-")})
        queries = [" ".join(chance.sample(words, chance.choice((1, 1, 2, 3)))) for _ in range(RUNS)]
        raw = sqlite3.connect(index.path)
        more = []
        for query in queries:
            bare = lambda query=query: raw.execute(_BARE, (query.replace(" ", " OR "),)).fetchall()  # noqa: E731
            search = lambda query=query: index.search(query)  # noqa: E731
            search(), bare()
            more.append(min(map(seconds, [search] * 5)) - min(map(seconds, [bare] * 5)))
        raw.close()
        table.row(
            f"search above bare FTS5, {lines:,} lines, median of {RUNS}", 1000 * statistics.median(more), "ms", most=0.1
        )
        time.sleep(1.1)
        table.row("  the first after a second without one", 1000 * seconds(lambda: index.search(queries[0])), "ms")


def p95(times: Sequence[float]) -> float:
    """In milliseconds."""
    return 1000 * sorted(times)[len(times) * 95 // 100]


def measure_large(table: Table, lines: int, hybrid: bool) -> None:
    """A large workspace: one file indexed again, and slow searches."""
    with workspace(lines, 1_000) as folder, MemoryIndex(folder) as index:
        table.row(f"indexing {lines:,} lines", seconds(index.refresh), "s")
        again = []
        for run in range(20):
            (folder / "changing.md").write_text("\n".join(make_lines(50)).replace("the", f"the{run}"), encoding="utf-8")
            again.append(seconds(lambda: index.update("changing.md")))
        table.row("a file of 50 lines indexed again", 1000 * statistics.median(again), "ms", most=30)
        os.utime(folder / "changing.md", (OLD, OLD))
        os.utime(folder, (OLD, OLD))
        settle(index)
        some = random.Random(5).sample([word for line in make_lines(400) for word in line.split()[1:]], 60)
        pairs = [f"{first} {second}" for first, second in itertools.pairwise(some)]
        sets = {
            "stop words": STOP_WORDS,
            "words in a tenth of the lines": TENTHS,
            "other words": (*OTHERS, *some, *pairs),
        }
        for mode in ("keyword", "hybrid") if hybrid else ("keyword",):
            if mode == "hybrid":
                table.row("vectors of all lines", seconds(lambda: index.search("rareone", mode="hybrid")), "s")
            for name, queries in sets.items():
                times = [seconds(partial(index.search, query, mode=mode)) for query in queries * 10]
                slowest = max(zip(times, queries * 10, strict=True))
                most = 20 if mode == "keyword" else 50
                table.row(f"{mode} search p95, {name} (slowest: {slowest[1]})", p95(times), "ms", most=most)


def measure_start(table: Table) -> None:
    """Opening a workspace of 1,000 files that did not change."""
    times = []
    with workspace(50_000, 1_000) as folder:
        with MemoryIndex(folder) as index:
            index.refresh()
        for _ in range(5):
            with MemoryIndex(folder) as index:
                times.append(seconds(index.refresh))
    table.row("start on an unchanged workspace of 1,000 files", 1000 * statistics.median(times), "ms", most=100)


def main() -> int:
    """Prints the table and says whether every figure was kept."""
    table = Table()
    measure_start(table)
    measure_bulk(table, 100_000)
    measure_search(table, 100_000)
    measure_large(table, 1_000_000, "--hybrid" in sys.argv[1:])
    return 0 if table.is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
