"""Interface of the frameworks of a Training: what a plug-in is, and what it knows of the spec."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from stowplan.library.ir.restart import all_but
from stowplan.library.ir.training import Environment, Framework, Hosts, TrainingGroup
from stowplan.library.manifest import Json
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


@dataclass(frozen=True)
class Plugin(Framework):
    """The framework of one Training, whose pods have one role. Each module of a framework has its class as `PLUGIN`.

    An example is `stowplan.library.frameworks.toy`::

        '''Variables of a toy framework.'''

        from stowplan.library.frameworks.api import Plugin
        from stowplan.library.frameworks.variables import variable


        class Toy(Plugin):
            variables = frozenset({"TOY_FIRST"})

            def own(self, first):
                yield variable("TOY_FIRST", first)


        PLUGIN = Toy
    """

    launch: Launch
    platform: Platform

    variables: ClassVar[frozenset[str]] = frozenset()
    """The names that it may set, and users may not. Those that all jobs have are not among them: see `neutral.py`."""
    elastic: ClassVar[bool] = False
    """Whether the number of pods may change while a job runs."""
    several: ClassVar[bool] = True
    """Whether a pod may have several processes."""
    final: ClassVar[tuple[int, ...]] = all_but(())
    """The exit codes that end a job which starts again after others, unless the user says which.

    By default they are all with which a program ends by itself.
    """
    bereft: ClassVar[int | None] = None
    """The exit code with which pods end when another is lost, if a program may end with it by itself; else None."""

    @property
    def ports(self) -> tuple[int, ...]:
        """The ports on which the processes of a pod listen."""
        return ()

    def findings(self) -> list[Finding]:
        """Return what the framework cannot do of the spec, at paths in its document."""
        return []

    def own(self, first: str) -> Iterator[Json]:
        """Yield the variables of each pod. `first` is the DNS name of the first pod."""
        yield from ()

    def readmits(self, group: TrainingGroup) -> bool:
        """Return whether the job is elastic: its launchers meet again whenever one comes or goes."""
        return self.launch.bounds is not None

    def environments(self, group: TrainingGroup, hosts: Mapping[str, Hosts]) -> dict[str, Environment]:
        """Return the variables by role: those of `own`, which users cannot change. `hosts` are DNS names by role."""
        return {role.name: Environment(tuple(self.own(hosts[role.name].of(0)))) for role in group.roles}
