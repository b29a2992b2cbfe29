"""Escaping of characters that people cannot see."""

import re

# Line and paragraph separators, odd blanks, invisible and direction-changing marks, surrogates and
# non-characters. A fixed list: `str.isprintable` follows the Unicode version of the Python at hand.
HIDDEN = (
    r"\x7f-\xa0\xad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff0-\uffff"
    r"\U000e0000-\U000e0fff"
) + "".join(rf"\U{plane:04x}fffe\U{plane:04x}ffff" for plane in range(1, 17))
_INVISIBLE = re.compile(rf"[\x00-\x08\x0a-\x1f{HIDDEN}]")
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """Return `text` with all invisible characters and control characters escaped, except tabs."""
    return _INVISIBLE.sub(escape, text)


def logged(line: str) -> str:
    """Return a line escaped as by `visible`, and further so that a log of CI takes nothing in it for a command."""
    # GitHub Actions looks for `::` behind the blanks at the beginning, and for `##[` everywhere.
    text = visible(line)
    blanks = len(text) - len(text.lstrip())
    begin = f"{text[:blanks]}\\u003a{text[blanks + 1 :]}" if text.startswith("::", blanks) else text
    return begin.replace("##[", "#\\u0023[")


def visible_lines(text: str) -> str:
    """Return `text` with all invisible characters and control characters escaped, except tabs and line feeds."""
    return "\n".join(map(visible, text.split("\n")))


def escape(found: re.Match[str]) -> str:
    """Return the replacement of one matched character: a short escape, or else `\\uXXXX` or `\\UXXXXXXXX`."""
    char = found.group()
    short = _SHORT_ESCAPES.get(char)
    code = ord(char)
    return short or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
