"""Paths in a claim."""

from stowplan.library.values import inner_paths
from stowplan.schema.diagnostics import FieldPath, Finding, finding


def canonical(path: str) -> str:
    """Return the path without `.` segments, empty segments and a trailing `/`; the empty string for the root."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def sub_path(path: str, at: FieldPath, whole: str = "claim") -> list[Finding]:
    """Return a finding at `at` if a `subPath` of `whole`, a word for messages, cannot be used, else an empty list."""
    problem = inner_paths.problem(path, whole)
    if not problem and path.startswith("/"):
        problem = f'"{path}" begins with `/`; it is a path in the {whole}.', "Remove the `/`."
    elif not problem and "$(" in path:
        problem = f'"{path}" holds a reference to a variable, and a path has none.', "Write it out."
    return [finding("SP405", at, *problem)] if problem else []
