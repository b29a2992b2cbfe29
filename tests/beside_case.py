"""Snapshots in the same folder as their cases."""

from pathlib import Path

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex


class BesideCase(SingleFileSnapshotExtension):
    """One file for each case. The test has a single parameter: the name of the case."""

    _write_mode = WriteMode.TEXT

    @staticmethod
    def snapshot(case: str) -> Path:
        """The file of a case, which ends with `file_extension`."""
        raise NotImplementedError

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        return str(cls._snapshot(test_location).parent)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:  # noqa: ARG003
        return cls._snapshot(test_location).name.removesuffix(f".{cls.file_extension}")

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        return Path(snapshot_location) == cls._snapshot(test_location)

    @classmethod
    def _snapshot(cls, test_location: PyTestLocation) -> Path:
        return cls.snapshot(str(test_location.nodename).partition("[")[2].removesuffix("]"))
