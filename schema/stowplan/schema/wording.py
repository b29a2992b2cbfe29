"""Wording of messages: what was found in a value, what is allowed, and what to do.

Each function returns a message or a part of one, or a message with its hint.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from stowplan.schema.diagnostics import nearest
from stowplan.schema.forms import FORMS

_SHOWN = 60
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")

ANY_TEXT, WHOLE_NUMBER, TRUE_OR_FALSE = "a string", "a whole number", "true or false"
A_LIST, A_MAPPING = "a list", "a mapping"

TYPES = {
    "array": A_LIST,
    "boolean": TRUE_OR_FALSE,
    "integer": WHOLE_NUMBER,
    "number": "a number",
    "object": A_MAPPING,
    "string": ANY_TEXT,
}
"""Words for messages, by type of JSON Schema."""

LIMITS = {
    "exclusiveMinimum": ("a number above {}", ""),
    "exclusiveMaximum": ("a number below {}", ""),
    "minimum": ("a number of at least {}", ""),
    "maximum": ("a number of at most {}", ""),
    "minLength": ("a string of at least {}", "character"),
    "maxLength": ("a string of at most {}", "character"),
    "minItems": ("a list of at least {}", "item"),
    "maxItems": ("a list of at most {}", "item"),
}
"""Words for messages, by keyword of JSON Schema: what is allowed, with `{}` for the limit, and the noun that it counts.

The noun is empty for limits of a number.
"""


def describe(value: Any) -> str:
    """Return a value in words for messages: a scalar with its (shortened) value; for mappings and lists the type."""
    match value:
        case str():
            return f'the string "{value}"' if len(value) <= _SHOWN else f'the string "{value[:_SHOWN]}…"'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case None:
            return "nothing"
        case _:
            return A_LIST if isinstance(value, list) else A_MAPPING


def describe_size(value: Any) -> str:
    """Return a value in words with its length: characters of a long string, items of a list; others as `describe`."""
    match value:
        case str() if len(value) > _SHOWN:
            return f"a string of {counted(len(value), 'character')}"
        case list():
            return f"a list of {counted(len(value), 'item')}" if value else "an empty list"
        case _:
            return describe(value)


def counted(number: int, noun: str) -> str:
    """Return a count such as `1 item`, `2 items`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def found_but(found: str, allowed: str) -> tuple[str, str]:
    """Return message and hint for a value, `found` in words, that must be `allowed`, in words."""
    return f"Found {found}; allowed is {allowed}.", f"Give {allowed}."


_EXAMPLES = {"uri": "s3://bucket.s3.eu-west-1.amazonaws.com/train/"}
"""Examples of strings with a minimum length, by key of their field."""


def beyond(value: Any, keyword: str, limit: Any, key: str = "") -> tuple[str, str]:
    """Return message and hint for the value of `key` that breaks `limit`. `keyword` is a key of `LIMITS`."""
    form, noun = LIMITS[keyword]
    if keyword == "minLength" and key in _EXAMPLES:
        message, _ = found_but(describe_size(value), f"{form.format(counted(limit, noun))}, such as {_EXAMPLES[key]}")
        return message, f"Write for example {_EXAMPLES[key]}."
    return found_but(describe_size(value), form.format(counted(limit, noun) if noun else limit))


def wrong_form(value: Any, pattern: str) -> tuple[str, str]:
    """Return message and hint for a string that does not match the regular expression `pattern`."""
    return found_but(describe(value), FORMS.get(pattern, "a string of another form"))


_IN_MEBIBYTES = frozenset({"cacheSize", "cache-size", "buffer-size", "max-readahead"})
"""Keys of the fields that hold a number of MiB."""

_IN_SECONDS = ("Seconds", "_seconds", "walltime")
"""Ends of the keys of fields that hold a number of seconds."""


def mistyped(value: Any, allowed: str, fields: Sequence[str] = (), key: str = "") -> tuple[str, str]:
    """Return message and hint for a value of a wrong type. `allowed` is the expected type in words.

    `fields` are the keys of the expected mapping; empty if another type is expected. `key` is that of the value.
    """
    message, hint = found_but(describe(value), allowed)
    if (isinstance(value, str) and allowed == WHOLE_NUMBER and _WHOLE_NUMBER.fullmatch(value)) or (
        isinstance(value, str) and allowed == TRUE_OR_FALSE and value in ("true", "false")
    ):
        hint = "Write it without quotes."
    elif isinstance(value, str) and allowed == WHOLE_NUMBER:
        hint = _without_unit(value, key) or hint
    elif isinstance(value, bool | int | float) and allowed == ANY_TEXT:
        hint = "Write it in quotes."
    elif isinstance(value, str | dict) and allowed == A_LIST:
        hint = 'Begin each item with "- ".'
    elif isinstance(value, dict) and len(value) == 1 and allowed == ANY_TEXT:
        hint = 'Write the whole string in quotes: without them, ": " makes it a mapping.'
    elif fields and allowed == A_MAPPING:
        hint = f"Give {allowed}; its fields are {', '.join(sorted(fields))}."
    return message, hint


_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([kmgtp])(i?)b?", re.IGNORECASE)
_DURATION = re.compile(r"(?:[0-9]{1,9} ?[dhms] ?)+", re.IGNORECASE)
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def _without_unit(value: str, key: str) -> str | None:
    """Return the hint for a string with a unit, such as `100Gi` or `1h30m`, in a field whose unit is not written.

    Returns None for other fields and other strings.
    """
    if key in _IN_MEBIBYTES and (size := _SIZE.fullmatch(value)):
        number = Decimal(size[1]) * (1024 if size[3] else 1000) ** ("kmgtp".index(size[2].lower()) + 1)
        return f"The unit is MiB and is not written: give {int(number) >> 20}."
    if key.endswith(_IN_SECONDS) and _DURATION.fullmatch(value):
        parts = re.findall(r"([0-9]+) ?([dhms])", value.lower())
        return f"The unit is seconds and is not written: give {sum(int(n) * _SECONDS[unit] for n, unit in parts)}."
    return None


def not_an_option(value: Any, options: Sequence[object]) -> tuple[str, str]:
    """Return message and hint for a value that is none of `options`. Strings are quoted and numbers are not."""
    shown = [f'"{option}"' if isinstance(option, str) else str(option) for option in options]
    allowed = f"allowed are {', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else f"allowed is {shown[0]}"
    return f"Found {describe(value)}; {allowed}.", _better_option(value, options, shown)


def _better_option(value: Any, options: Sequence[object], shown: Sequence[str]) -> str:
    for option, text in zip(options, shown, strict=True):
        if str(option) == str(value):
            return f"Write it {'in' if isinstance(option, str) else 'without'} quotes: {text}."
    near = nearest(str(value), [option for option in options if isinstance(option, str)])
    if near is not None:
        return f'Did you mean "{near}"?'
    return f"Give {'one of them' if len(shown) > 1 else shown[0]}."
