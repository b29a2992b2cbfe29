"""Measures the compiler beside a run without constructs and beside other programs that do the same.

All rows of one size are run in turn, again and again; the table has medians. Files are in memory where the machine has
`/dev/shm`. Memory is taken in a further run. `tests/bench/compile/README.md` says what each row does.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.bench.compile import programs, table
from tests.bench.compile.bench import Bench
from tests.bench.compile.peers import PEERS, Peers
from tests.bench.compile.process import adopt_orphans

SIZES = (1, 10, 100, 1000, 5000)
OTHERS = (programs.PHASES, programs.WATCH)
OWN = tuple(each.name for each in programs.OWN)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compile", description=__doc__)
    names = (*OWN, *OTHERS, *PEERS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="numbers of specs; default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="ROW", help=f"of: {', '.join(names)}"
    )
    parser.add_argument("--limit", type=float, default=60, help="seconds for a run of a peer; default: %(default)s")
    given = parser.parse_args()
    wanted = [each for each in programs.OWN if each.name in given.only]
    adopt_orphans()
    with tempfile.TemporaryDirectory(dir=_in_memory(), prefix="bench-") as folder:
        peers = Peers(Path(folder) / "peers", [name for name in PEERS if name in given.only])
        bench = Bench(Path(folder), [*wanted, *peers.programs()], given.rounds, given.limit, peers.compare)
        bench.unsized()
        for size in given.sizes:
            bench.size(size, given.only)
    sys.stdout.write(f"{table.markdown(bench, given.sizes)}\n")


def _in_memory() -> Path | None:
    place = Path("/dev/shm")
    return place if place.is_dir() else None


if __name__ == "__main__":
    main()
