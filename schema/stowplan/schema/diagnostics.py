"""Findings: problems of a value, as data.

Every layer may produce findings; none prints them. A `Finding` knows the path inside of its document. Only the compiler
knows files, and turns findings into `Diagnostic`s with a file, line and column.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from stowplan.schema import codes

FieldPath = tuple[str | int, ...]
"""Keys and list indices from the root of a document, for example `("spec", "cache", "levels", 0, "path")`."""


class Severity(StrEnum):
    """Weight of a diagnostic. Only `ERROR` stops a command and makes its exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Anchor(StrEnum):
    """Part of a field whose line and column a finding reports: its key or its value."""

    KEY = "key"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation about one field of one document.

    `message` says what was found and what is allowed; `hint` says what to do. `code` is a key of
    `stowplan.schema.codes.CATALOGUE`, which also gives the severity unless the platform's policy changes it.
    """

    code: str
    path: FieldPath
    message: str
    hint: str
    severity: Severity
    anchor: Anchor = Anchor.VALUE


def finding(
    code: str,
    path: FieldPath,
    message: str,
    hint: str,
    *,
    severity: Severity | None = None,
    anchor: Anchor = Anchor.VALUE,
) -> Finding:
    """Return a `Finding` with the catalogue's severity for `code` unless `severity` is given.

    Raises `KeyError` for an unknown code, which is a bug of Stowplan.
    """
    return Finding(code, path, message, hint, severity or Severity(codes.CATALOGUE[code].severity), anchor)


def without_effect(path: FieldPath, message: str, hint: str = "Remove it.") -> Finding:
    """Return the finding that a field has no effect (SP406). It is at the key of the field."""
    return finding("SP406", path, message, hint, anchor=Anchor.KEY)


def has_errors(findings: Iterable[Finding]) -> bool:
    """Return whether any finding is an error."""
    return any(found.severity is Severity.ERROR for found in findings)


def dotted(path: FieldPath) -> str:
    """Return the path in the form for users: `spec.cache.levels[0].path`; empty for the document itself.

    A key that is not a plain word is quoted in brackets, as in `metadata.labels["a/b"]`.
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part and all(c.isalnum() or c in "-_" for c in part):
            text += f".{part}" if text else part
        else:
            text += f'["{part}"]'
    return text


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that `word` was probably meant to be; None if no word is similar.

    Case is ignored, since Go's decoder ignored it. Numbers are never similar: 1.1 is no misspelling of 1.4.
    """
    folded = {name.lower(): name for name in sorted(known, reverse=True)}
    near = get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6) if any(c.isalpha() for c in word) else []
    return folded[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `Did you mean "x"?` for the nearest known word, else the sorted list of known words."""
    names = sorted(known)
    near = nearest(word, names)
    if near is not None:
        return f'Did you mean "{near}"?'
    return f"Known: {', '.join(names)}." if names else "Nothing is known here."
