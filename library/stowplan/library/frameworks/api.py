"""Interface of the frameworks of a Training: what a plug-in is, and what it knows of the spec."""

from collections.abc import Callable
from typing import NamedTuple

from stowplan.library.ir.training import Framework
from stowplan.schema.diagnostics import Finding
from stowplan.schema.platform.platform import Platform


class Bounds(NamedTuple):
    """Smallest and largest number of pods of an elastic job."""

    least: int
    most: int


class Launch(NamedTuple):
    """How a Training starts its processes.

    `nodes` is the number of pods, `processes` the number of processes in each. `bounds` is given for an elastic job;
    nothing in its pods may depend on `nodes` then, which may change while the job runs.
    """

    nodes: int
    processes: int
    bounds: Bounds | None = None


def _no_ports(launch: Launch, platform: Platform) -> tuple[int, ...]:  # noqa: ARG001 - as `Plugin.ports`
    return ()


def _no_findings(launch: Launch, platform: Platform) -> list[Finding]:  # noqa: ARG001 - as `Plugin.findings`
    return []


class Plugin(NamedTuple):
    """One framework of a Training, which each module of a framework has as `PLUGIN`.

    `make` returns the framework of one job. Its variables must be among `variables`, the names that users may not
    set. The names of `neutral.py` are not among them: it writes the variables that all frameworks have. `ports` returns
    the ports on which the processes of a pod listen. `elastic` says whether the number of pods may change while a job
    runs, `several` whether a pod may have several processes. `findings` returns what the framework cannot do of a spec,
    at paths in its document.
    """

    make: Callable[[Launch, Platform], Framework]
    variables: frozenset[str] = frozenset()
    ports: Callable[[Launch, Platform], tuple[int, ...]] = _no_ports
    elastic: bool = False
    several: bool = True
    findings: Callable[[Launch, Platform], list[Finding]] = _no_findings
