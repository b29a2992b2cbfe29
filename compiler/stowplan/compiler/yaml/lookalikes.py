"""Characters that look like YAML syntax but are not: typographic quotes, special blanks, merge conflict markers.

Word processors, chats and web pages insert such characters. YAML reads them as part of a string, and its error message
is far from the cause.
"""

import re
import unicodedata

from stowplan.schema.diagnostics import FieldPath, Finding, finding

_BLANKS = "\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
_INVISIBLE = re.compile("[\u200b\u2060\ufeff]")
_AROUND = re.compile(f"^(?:- *)?([{_BLANKS}])|:([{_BLANKS}])|([{_BLANKS}])$")
"""Special blanks at the ends of a string, after the colon of a key, or after the dash of a list item."""

_OPENING, _CLOSING = "\u201c\u201e\u201f\u00ab\u2018\u201a", "\u201d\u201c\u00bb\u2019\u2018"
_DOUBLE = re.compile("[\u201c-\u201f]")

_IN_STRUCTURE = re.compile(f"^[ ]*(?:- +)*(?:[^\\s#'\"]+:|-)?[ ]*([{_BLANKS}])", re.MULTILINE)
"""A special blank in the indent of a line, or after a key or the dash of a list item."""

_CONFLICT = re.compile(r"^(?:[<>|]{7} .*|={7})\r?$", re.MULTILINE)


def stray(text: str, *, key: bool) -> str | None:
    """Return the first character of an unquoted string that was meant to be a quote or a blank; None if there is none.

    `key` is True for a key, and False for a value.
    """
    for pattern in (_INVISIBLE, _AROUND):
        found = pattern.search(text)
        if found:
            return found[found.lastindex or 0]
    doubles = _DOUBLE.findall(text)
    if text[:1] in tuple(_OPENING) and (key or text[-1] in _CLOSING) and len(doubles) in (0, 2):
        return text[0]
    return doubles[0] if len(doubles) == 1 else None


def first_blank(text: str, start: int, end: int) -> int | None:
    """Return the offset in `text` of the first special blank in an indent or after a key; None if there is none.

    Only the part from `start` to `end` is searched.
    """
    found = _IN_STRUCTURE.search(text, start, end)
    return found.start(1) if found else None


def conflict(text: str) -> int | None:
    """Return the offset in `text` of the first line that marks a merge conflict; None if there is none."""
    found = _CONFLICT.search(text)
    return found.start() if found else None


def problem(character: str, path: FieldPath = ()) -> Finding:
    """Return SP117 for a character that looks like a quote, a blank or nothing, in the value or key at `path`."""
    name = f"U+{ord(character):04X} ({unicodedata.name(character, 'without a name').lower()})"
    if unicodedata.category(character)[0] == "P":
        message = f"The character {name} looks like a quote, but for YAML it is part of the string."
        return finding("SP117", path, message, "Type a straight quote, \" or ', in its place, or none.")
    message = f"The character {name} looks like a blank or like nothing, but for YAML it is part of the string."
    return finding("SP117", path, message, "Type a plain space in its place, or remove it.")
