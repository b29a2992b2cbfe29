"""Where a sync copies to: a JuiceFS volume without a mount, or a directory of a mounted claim."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import quote

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, walk
from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.dataset_lock.state import StateDirectory
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.lock import LockFile, held
from stowplan.agents.cache.drivers.juicefs import credentials
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.formatting import format_volume
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks, Past
from stowplan.agents.cache.drivers.juicefs.volume_state import VolumeState
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.schema.agents.agent_config import VOLUME_SECRET_ENV
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import LOCK_FILE, STATE_DIRECTORY

_NAME = "sync"
"""Name of a holder of the lock that has no run."""


class Destination(Protocol):
    """Place that a sync fills. Methods raise AttemptError, OSError or StoppedError."""

    child: Child
    """Program `juicefs`, with the variables by which it reaches the destination."""
    address: str
    """Address for `juicefs sync`."""
    state: StateDirectory
    """State directory of the dataset."""

    def past(self, marks: Marks) -> Past:
        """Return the marker files that exist now, after creating the destination if it is missing."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Return a context manager that holds the lock of the dataset."""
        ...

    def folder(self) -> ClaimFolder | None:
        """Return the folder to delete files in, which the caller must close; None for a volume without a mount."""
        ...

    def settle(self) -> None:
        """Make sure that the copied files survive a crash of the machine."""
        ...


def of(config: SyncConfig, work: TaskWork, environment: Mapping[str, str]) -> Destination:
    """Return the destination of a sync. Raises AttemptError (exit code 2) if the address of a volume is missing."""
    if config.mount_path is not None:
        return ClaimDestination(config, config.mount_path, work)
    return VolumeDestination(config, work, environment)


class VolumeDestination:
    """A directory of a JuiceFS volume, through its metadata engine."""

    def __init__(self, config: SyncConfig, work: TaskWork, environment: Mapping[str, str]) -> None:
        metadata = credentials.given(environment, VOLUME_SECRET_ENV["metaurl"])
        if not metadata:
            message = f"{VOLUME_SECRET_ENV['metaurl']} is not set: the volume Secret must have the key `metaurl`"
            raise AttemptError(ExitCode.BAD_SPEC, "BadSecret", message)
        own = {**credentials.volume_variables(environment), config.volume: metadata}
        self.child = Child(own, work.stop, work.redact)
        self.address = f"jfs://{config.volume}{config.destination}"
        self.state: StateDirectory = VolumeState(self.child, f"jfs://{config.volume}{(config.root or '').rstrip('/')}/")
        self._work, self._environment = work, environment

    def past(self, marks: Marks) -> Past:
        try:
            return marks.look()
        except AttemptError as error:
            log = self._work.log
            if error.reason != "NotFormatted" or not format_volume(self.child, self._environment, log):
                raise
            return marks.look()

    def locked(self) -> AbstractContextManager[None]:
        work = self._work
        return Lock(self.state, work.run or _NAME, work.stop, work.log).held()

    def folder(self) -> ClaimFolder | None:
        return None

    def settle(self) -> None:
        """Do nothing: JuiceFS commits each file as it is closed."""


class ClaimDestination:
    """A directory of a mounted claim of any storage."""

    def __init__(self, config: SyncConfig, mount: str, work: TaskWork) -> None:
        self._folder = config.destination.rpartition("/")[0].strip("/")
        self._mount, self._path = Path(mount).absolute(), PurePosixPath((config.root or "").strip("/"))
        self.child = Child({}, work.stop, work.redact)
        # JuiceFS decodes the path of the address.
        self.address = f"file://{quote(f'{self._mount}{config.destination}')}"
        self.state: StateDirectory = MountedState(self._mount, str(self._path / STATE_DIRECTORY))
        self._work = work

    def past(self, marks: Marks) -> Past:
        self._make()
        return marks.look()

    def locked(self) -> AbstractContextManager[None]:
        # The transfer agent, which may fill the same directory from another source, holds the same lock file.
        work = self._work
        return held(LockFile(self._mount, str(self._path / LOCK_FILE)), work.run or _NAME, work.stop, work.log)

    def folder(self) -> ClaimFolder | None:
        return ClaimFolder.at(self._mount, self._folder)

    def settle(self) -> None:
        with ClaimFolder.at(self._mount, str(self._path)) as folder:
            folder.sync_all()

    def _make(self) -> None:
        """Create the directory of the dataset, unless it exists.

        Raises AttemptError: NOT_FOUND (4) without a mount, CONFLICT (5) if a link is on the way to the directory, or if
        one in it leads out of it.
        """
        if not self._mount.is_dir():
            raise AttemptError(ExitCode.NOT_FOUND, "NoClaim", f"{self._mount} is not there: is the claim mounted?")
        try:
            folder = ClaimFolder.at(self._mount, str(self._path), create=True)
            folder.folder(STATE_DIRECTORY, create=True).close()
        except NotADirectoryError:
            where = self._mount / self._path
            message = f"{where} leads through a link or a file: paths must be directories of the claim itself"
            raise AttemptError(ExitCode.CONFLICT, "Link", message) from None
        # `juicefs` follows links to directories, and pods that use the dataset may have made some.
        root = (self._mount / self._path).resolve()
        with folder:
            for name, entry, _ in walk(folder, by_name):
                path = root / name
                if (
                    not entry.is_folder
                    and not entry.is_file
                    and path.is_dir()
                    and not path.resolve().is_relative_to(root)
                ):
                    message = f"{path} is a link that leads out of the dataset: remove it"
                    raise AttemptError(ExitCode.CONFLICT, "Link", message)
