"""Measures `synth` of a repository for a fleet of clusters beside the same specs for one environment.

The clusters of an environment differ in name and server alone. `tests/bench/compile/README.md` has results.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench.compile import workload
from tests.bench.compile.process import adopt_orphans, run, run_sampled
from tests.bench.compile.programs import STOWPLAN, Command, variables

LIMIT = 3600
"""Seconds that a run may take."""

FLEETS = ((1, 1), (1, 5), (3, 5))
"""Numbers of environments, and of clusters in each."""

HEADER = (
    "| specs | environments | clusters | s | CPU s | CPU to one | unchanged, CPU s | tree MiB | files |\n"
    + "| --- " * 9
    + "|"
)


def platform(environments: int, clusters: int) -> str:
    """The platform file: environments that differ in the registry of the agents."""
    lines = [workload.PLATFORM, "environments:"]
    for number in range(environments):
        lines += [
            f"- name: env-{number}",
            f"  set: {{images: {{registry: env-{number}.registry.example.com/ml}}}}",
            "  clusters:",
            *(f"  - {{name: c{each}, server: 'https://c{each}.env-{number}.example.com'}}" for each in range(clusters)),
        ]
    return "\n".join(lines) + "\n"


def measured(folder: Path, size: int, environments: int, clusters: int, one: float) -> tuple[str, float]:
    """One row of the table, and the seconds of CPU of the first run. `one` are those of one cluster, or 0."""
    repo, cache = folder / "repo", folder / "cache"
    workload.write(repo, list(workload.specs(size)))
    (repo / "stowplan.yaml").write_text(platform(environments, clusters), encoding="utf-8")
    command: Command = [STOWPLAN, "synth", repo]
    runs = []
    for _ in ("from nothing", "unchanged"):
        ran = run(command, LIMIT, variables(cache))
        if ran.code:
            sys.exit(f"stowplan ended with {ran.code}: {ran.output[-2000:]}")
        runs.append(ran)
    first, again = runs
    written = sum(1 for path in (repo / "out").rglob("*") if path.is_file())
    for made in (repo / "out", cache):
        shutil.rmtree(made)
    _, memory = run_sampled(command, LIMIT, variables(cache))
    shutil.rmtree(folder)
    ratio = first.processor / (one or first.processor)
    cells = (
        size,
        environments,
        environments * clusters,
        f"{first.seconds:.1f}",
        f"{first.processor:.1f}",
        f"{ratio:.2f}",
    )
    more = (f"{again.processor:.1f}", f"{memory.tree:.0f}", written)
    return f"| {' | '.join(map(str, (*cells, *more)))} |", first.processor


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compile.fleet", description=__doc__)
    parser.add_argument("--specs", type=int, default=200, help="number of specs; default: %(default)s")
    size = parser.parse_args().specs
    adopt_orphans()
    one = 0.0
    sys.stdout.write(f"{HEADER}\n")
    for environments, clusters in FLEETS:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            row, found = measured(Path(folder, "fleet"), size, environments, clusters, one)
        one = one or found
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
