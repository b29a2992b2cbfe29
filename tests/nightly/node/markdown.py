"""Snapshots in Markdown."""

from pathlib import Path

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex


class Markdown(SingleFileSnapshotExtension):
    """One file for each test function, the same for all its parameters: each store, each minor of Kubernetes.

    There is one class for all, since it is asked whose a snapshot is that stands anywhere below its folder.
    """

    _write_mode = WriteMode.TEXT
    file_extension = "md"

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:  # noqa: ARG003 - its
        return test_location.methodname

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        path = Path(snapshot_location)
        return (path.parent.name, path.stem) == (test_location.basename, test_location.methodname)
