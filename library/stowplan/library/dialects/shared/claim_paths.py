"""Paths in a claim."""

from stowplan.library.values import inner_paths
from stowplan.schema.diagnostics import FieldPath, Finding, finding


def canonical(path: str) -> str:
    """Return the path without `.` segments, empty segments and a trailing `/`; the empty string for the root."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def sub_path(path: str, at: FieldPath, whole: str = "claim") -> list[Finding]:
    """Return a finding at `at` if a `subPath` of `whole`, a word for messages, cannot be used, else an empty list."""
    problem = _problem(path, whole)
    return [finding("SP405", at, *problem)] if problem else []


def _problem(path: str, whole: str) -> tuple[str, str] | None:
    """Return message and hint of the first rule that the path breaks; None if it breaks none."""
    rules = (
        (path.startswith("/"), f'"{path}" begins with `/`; it is a path in the {whole}.', "Remove the `/`."),
        ("$(" in path, f'"{path}" holds a reference to a variable, and a path has none.', "Write it out."),
    )
    own = next(((message, hint) for broken, message, hint in rules if broken), None)
    return inner_paths.problem(path, whole) or own
