"""Paths inside a dataset, as users write them."""

from collections.abc import Sequence

from stowplan.library.values import inner_paths
from stowplan.schema.diagnostics import FieldPath, Finding, finding


def relative(path: str) -> str:
    """Return the path from the dataset's root, without leading slashes, empty parts and `.` parts.

    A slash at the end is not removed. The old operator removed leading slashes too.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return "/".join(parts) + ("/" if parts and path.endswith("/") else "")


def findings(paths: Sequence[str], base: FieldPath) -> list[Finding]:
    """Return a finding for each path that is empty, leaves the dataset, or holds a control character or `.stowplan`.

    `base` is the path of the list in the document. Agents have their own files in the directory `.stowplan`.
    """
    return [problem for index, path in enumerate(paths) for problem in one(path, (*base, index))]


def one(path: str, at: FieldPath) -> list[Finding]:
    """Return a finding at `at` if a path cannot be used (see `findings`), else an empty list."""
    if not relative(path):
        return [finding("SP405", at, f'"{path}" names nothing below the root of the dataset.', "Name a path.")]
    problem = inner_paths.problem(path, "dataset")
    return [finding("SP405", at, *problem)] if problem else []
