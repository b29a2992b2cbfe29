"""Paths inside a dataset, as users write them."""

from collections.abc import Sequence

from stowplan.schema.diagnostics import FieldPath, Finding, finding


def relative(path: str) -> str:
    """The path from the dataset's root: leading slashes go, as the old operator cut them, and so does what is empty."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return "/".join(parts) + ("/" if parts and path.endswith("/") else "")


def findings(paths: Sequence[str], base: FieldPath) -> list[Finding]:
    """One finding for each path that is empty, leaves the dataset or holds a control character."""
    return [problem for index, path in enumerate(paths) for problem in one(path, (*base, index))]


def one(path: str, at: FieldPath) -> list[Finding]:
    """What is wrong with one path."""
    if not relative(path):
        return [finding("SP405", at, f'"{path}" names nothing below the root of the dataset.', "Name a path.")]
    if ".." in path.split("/"):
        return [finding("SP405", at, f'"{path}" could leave the dataset.', "Remove the `..`.")]
    if any(ord(character) < 32 for character in path):
        return [finding("SP405", at, "The path holds a control character.", "Remove it.")]
    return []
