"""Interface of a storage driver that caches: what measures a dataset on this cluster node, and the tasks on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from stowplan.agents.cache.drivers.task_settings import TaskConfig
from stowplan.agents.cache.drivers.work import TaskWork


@dataclass(frozen=True, slots=True)
class Trouble:
    """Problem of a mounted dataset."""

    reason: str
    """One word in CamelCase, for programs."""
    message: str
    """Sentence for people."""

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


@dataclass(frozen=True, slots=True)
class Pulse:
    """Result of a quick check of a mount."""

    cached_bytes: int | None
    """Bytes of the volume that this cluster node caches; None if unknown."""
    trouble: Trouble | None = None
    """Problem of the mount; None if the mount works."""
    evictions: int | None = None
    """Number of blocks that the cache has dropped since the start of the mount's process; None if unknown."""


@dataclass(frozen=True, slots=True)
class DatasetSize:
    """Size of a directory and the number of its files. For a dataset, without Stowplan's state directory."""

    bytes: int
    files: int


class Driver(Protocol):
    """Measures a dataset that is mounted on this cluster node.

    Each call has its own time limit, since the mount may hang. Calls return problems as `Trouble` and raise no
    exceptions.

    An example is `stowplan.agents.cache.drivers.toy.measure`::

        '''Measures toys.'''

        from stowplan.agents.cache.drivers.api import DatasetSize, Pulse


        class Toys:
            def pulse(self, mount):
                return Pulse(cached_bytes=0)

            def extent(self, mount):
                files = [each for each in mount.rglob("*") if each.is_file()]
                return DatasetSize(sum(each.stat().st_size for each in files), len(files))


        def make_driver():
            return Toys()
    """

    def pulse(self, mount: Path) -> Pulse:
        """Check whether the mount at `mount` works, without reading data. The caller does this every few seconds."""
        ...

    def extent(self, mount: Path) -> DatasetSize | Trouble:
        """Measure the size of the dataset that is mounted at `mount`.

        This may take minutes. It does not list the directories of the mount one by one.
        """
        ...


class Operations(NamedTuple):
    """What is done on datasets of one driver.

    `secrets` returns the secret strings in an environment, which no output may hold. `task` returns the function that
    makes one attempt at the task of a configuration, in this environment. The function returns a sentence about what
    was done, and raises `AttemptError`.

    An example is `stowplan.agents.cache.drivers.toy.operations`::

        '''The operations on toys.'''

        from stowplan.agents.cache.drivers.api import Operations


        def _task(config, work, environment):
            return lambda: f"All toys in {config.mount_path} are warm"


        OPERATIONS = Operations(lambda environment: (), _task)
    """

    secrets: Callable[[Mapping[str, str]], Sequence[str]]
    task: Callable[[TaskConfig, TaskWork, Mapping[str, str]], Callable[[], str]]
