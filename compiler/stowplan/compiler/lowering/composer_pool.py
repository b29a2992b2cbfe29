"""What renders units, and what it rendered before."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stowplan.compiler.repository.temporary_folder import TemporaryFolder
from stowplan.library.manifest import Unit
from stowplan.schema.meta import SpecId

if TYPE_CHECKING:
    from stowplan.library.composition import Composer


class Memory:
    """The Node of each process that composes; it starts with the first unit.

    A lasting one serves a process that compiles again and again: it knows the units that it has sent before. A unit is
    rendered as it is given, so a known one is not sent again.
    """

    def __init__(self, *, lasting: bool = True) -> None:
        self._known: dict[SpecId, Unit] | None = {} if lasting else None
        self._packages: TemporaryFolder | None = None
        self._composer: Composer | None = None

    @property
    def lasting(self) -> bool:
        """Whether it serves this very process, and no other one."""
        return self._known is not None

    def prepare(self) -> None:
        """What processes that are forked from this one share."""
        if self._packages is None:
            from stowplan.library.composition import unpack  # noqa: PLC0415 - start-up time

            self._packages = TemporaryFolder("stowplan-npm-")
            unpack(self._packages.path)

    def start(self) -> None:
        """Start Node before there is a unit, in a process that will wait for one."""
        self._started()

    def send(self, units: Sequence[Unit]) -> None:
        """Have units rendered, while other work goes on. Raises what the composer raises."""
        fresh = [unit for unit in units if self._known is None or self._known.get(unit.spec) != unit]
        if fresh:
            self._started().send(fresh)
        if self._known is not None:
            self._known |= {unit.spec: unit for unit in fresh}

    def finish(self) -> None:
        """Wait until all units are rendered. Raises what the composer raises."""
        if self._composer is not None:
            self._composer.finish()

    def _started(self) -> "Composer":
        if self._composer is None:
            from stowplan.library.composition import Composer  # noqa: PLC0415 - start-up time

            self.prepare()
            self._composer = Composer(self._packages.path if self._packages else Path())
        return self._composer

    def close(self) -> None:
        """End what runs, and remove what was unpacked."""
        if self._composer is not None:
            self._composer.close()
        if self._packages is not None:
            self._packages.remove()
        self._composer = self._packages = None
