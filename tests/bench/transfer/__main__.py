"""Measures the transfer agent beside other programs, and prints one Markdown table.

A server on the loopback interface, files in memory, medians of interleaved rounds. What a program needs to start is
measured apart and taken off. The server shares the processors. It keeps the CRC-64/NVME of every object, by which
the agent proves it, also with `verifyParts`; `checksums` has an object without one, and with others.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.agents.transfer.server import new_bucket, serving
from tests.bench.transfer import table
from tests.bench.transfer.bench import Bench
from tests.bench.transfer.peers import programs
from tests.bench.transfer.workloads import WORKLOADS, Sizes, run
from tests.cluster.binaries import Missing, obtain
from tests.cluster.tools import VERSITYGW

PEERS = ("rclone", "s5cmd", "aws", "aws (CRT)")


def main() -> None:
    """Builds what is missing, measures and prints."""
    bars = "; ".join(f"`{name}`: {each.__doc__}" for name, each in WORKLOADS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.transfer", description=__doc__, epilog=f"Workloads: {bars}"
    )
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=list(WORKLOADS), help="workloads; default: all")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7, help="of each download; default: %(default)s")
    parser.add_argument("--big-mib", type=int, default=2048, help="size of the big object; default: %(default)s")
    parser.add_argument("--small", type=int, default=20_000, help="objects of 64 KiB; default: %(default)s")
    parser.add_argument("--upload-rounds", type=int, default=3, help="of each upload; default: %(default)s")
    parser.add_argument("--upload-small", type=int, default=4000, help="files of 64 KiB; default: %(default)s")
    parser.add_argument("--sparse-gib", type=int, default=8, help="size of the empty object; default: %(default)s")
    parser.add_argument("--keys", type=int, default=1_000_000, help="keys to list; default: %(default)s")
    given = vars(parser.parse_args())
    names, places = given.pop("only"), programs(given.pop("peers"))
    found = obtain(VERSITYGW)
    if isinstance(found, Missing):
        sys.exit(str(found))
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="bench-") as folder:
        (Path(folder) / "server").mkdir()
        with serving(found.paths["versitygw"], Path(folder) / "server") as url:
            bench = Bench(Path(folder), new_bucket(url), places)
            run(bench, Sizes(**given), names)
    sys.stdout.write(f"{table.markdown(bench.rows)}\n")


if __name__ == "__main__":
    main()
