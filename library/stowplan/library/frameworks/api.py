"""Interface of the frameworks of a Training: what a plug-in is, and what it knows of the spec."""

from collections.abc import Callable
from typing import NamedTuple

from stowplan.library.ir.restart import all_but
from stowplan.library.ir.training import Framework
from stowplan.schema.diagnostics import Finding
from stowplan.schema.platform.platform import Platform

WRONG_COMMAND = (2, 126, 127)
"""Exit codes of a command that cannot work: wrong arguments, no program, or one that is not found.

By the convention of shells, and of Python's `argparse` for 2.
"""


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
    runs, `several` whether a pod may have several processes. `final` are the exit codes that end a job which starts
    again after others, unless the user says which: without a word all with which a program ends by itself. `bereft` is
    the one with which pods end when another is lost, if a program may end with it by itself; else None. `findings`
    returns what the framework cannot do of a spec, at paths in its document.

    An example is `stowplan.library.frameworks.toy`::

        '''Variables of a toy framework.'''

        from stowplan.library.frameworks.api import Plugin
        from stowplan.library.ir.training import Environment, Peer


        class Toy:
            name = "toy"

            def environments(self, group, hosts):
                (role,) = group.roles
                first = {"name": "TOY_FIRST", "value": hosts[role.name].of(0)}
                return {role.name: Environment((first,))}

            def peers(self, group, role):
                return (Peer(role.name),)

            def readmits(self, group):
                return False


        PLUGIN = Plugin(lambda launch, platform: Toy(), frozenset({"TOY_FIRST"}))
    """

    make: Callable[[Launch, Platform], Framework]
    variables: frozenset[str] = frozenset()
    ports: Callable[[Launch, Platform], tuple[int, ...]] = _no_ports
    elastic: bool = False
    several: bool = True
    final: tuple[int, ...] = all_but(())
    bereft: int | None = None
    findings: Callable[[Launch, Platform], list[Finding]] = _no_findings
