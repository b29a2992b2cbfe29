"""Runs in the committed output that `stowplan retire` can list as over."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.compiling.reading import read, texts
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.output import inventory
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.specs import retired_runs
from stowplan.compiler.specs.retired_runs import RetiredRun
from stowplan.schema.meta import SpecId


class Retirable(NamedTuple):
    """The present runs by spec, each once (`runs`), and the entries of the runs to which all specs compile now.

    `texts` are the contents of files that diagnostics name, by path.
    """

    texts: Mapping[str, str]
    runs: Mapping[SpecId, Sequence[RetiredRun]]
    compiled: Sequence[RetiredRun]


def retirable(checkout: Checkout, out: Path, clusters: Sequence[Target], report: Report) -> Retirable:
    """Return the present runs below `out`, the output folder of all targets. Diagnostics go to `report`.

    A spec on a schedule, and one whose run is retired, has none. `clusters` are those of one environment, whose specs
    may have other runs in each.
    """
    runs: dict[SpecId, list[RetiredRun]] = {}
    compiled: list[RetiredRun] = []
    for target in clusters:
        reading = read(checkout, target, (), report)
        by_spec = inventory.read(out / target.name)[0].by_spec
        compiled += map(retired_runs.of_spec, reading.program.specs)
        for each in (each for each in reading.program.specs if each.id not in reading.retired):
            digests = (each.run_digest, each.digest)
            if any(entry.run and entry.spec_digest in digests for entry in by_spec.get(each.id, ())):
                run = retired_runs.of_spec(each, target.environment.name or None)
                own = runs.setdefault(each.id, [])
                own += [] if run in own else [run]
    return Retirable(texts(checkout, report), runs, compiled)
