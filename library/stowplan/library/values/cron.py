"""Cron expressions, by the rules of the CronJob controller (robfig/cron v3, `ParseStandard`)."""

import re

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAYS = "sun mon tue wed thu fri sat".split()
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    ("day of week", 0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
_WORDS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY = re.compile(r"@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+", re.ASCII)
_TERM = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)", re.ASCII)
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}

LEAST_SECONDS = 60
"""Minimum interval of `@every` in seconds: that of a schedule with five fields. Kubernetes would accept `@every 1s`."""

_PART = re.compile(r"(?P<low>\*|\?|\w+)(-(?P<high>\w+))?(/(?P<step>\d+))?", re.ASCII)


def problem(expression: str) -> tuple[str, str] | None:
    """Return what is wrong with an expression, and what to write instead; None if it is valid.

    A time zone is refused, as by Kubernetes since 1.29.
    """
    if expression.startswith(("TZ=", "CRON_TZ=")):
        return "The schedule cannot contain a time zone.", "Write it into `timeZone`."
    if expression.startswith("@"):
        return _problem_of_word(expression)
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        hint = f"Write five fields ({', '.join(field[0] for field in _FIELDS)}), or a word such as @daily."
        return f'"{expression}" has {len(fields)} fields; a schedule has 5.', hint
    for text, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            if not _fits(part, low, high, words):
                message = f'"{part}" does not fit the {name}, which goes from {low} to {high}.'
                return message, _hint(name, low, high, words)
    return None


def _problem_of_word(expression: str) -> tuple[str, str] | None:
    if expression in _WORDS:
        return None
    if not _EVERY.fullmatch(expression):
        hint = f"Words are {', '.join(sorted(_WORDS))} and, for example, @every 6h."
        return f'"{expression}" is not a word that cron knows.', hint
    if _seconds(expression) < LEAST_SECONDS:
        message = f'"{expression}" is less than a minute.'
        return message, "Give at least @every 1m, which is as often as five fields can say."
    return None


def _seconds(expression: str) -> float:
    """Return the interval of a valid `@every` expression in seconds."""
    return sum(float(number) * _SECONDS[unit] for number, unit in _TERM.findall(expression))


_LONGEST_MONTHS = dict(zip(range(1, 13), (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), strict=True))


def never(expression: str) -> bool:
    """Return whether a valid expression names only days that no year has, such as the 31st of February.

    If both the day of the month and the day of the week are restricted, a day needs to match only one of them. A `*`
    with a step larger than 1 is a restriction.
    """
    if expression.startswith("@"):
        return False
    _, _, days, months, weekdays = expression.split()
    if not _is_any(weekdays):
        return False
    first = min(_values(days, _FIELDS[2]))
    return all(first > _LONGEST_MONTHS[month] for month in _values(months, _FIELDS[3]))


def _is_any(text: str) -> bool:
    """Return whether a field holds a `*` or `?` without a step, or with a step of 1."""
    return any(re.fullmatch(r"[*?](/0*1)?", part) for part in text.split(","))


def _values(text: str, field: tuple[str, int, int, dict[str, int]]) -> frozenset[int]:
    """Return the numbers that match a valid field."""
    _, low, high, words = field
    found: set[int] = set()
    for match in filter(None, map(_PART.fullmatch, text.split(","))):
        whole = match["low"] in ("*", "?")
        first = low if whole else _number(match["low"], words) or low
        last = (_number(match["high"], words) or high) if match["high"] else high if whole or match["step"] else first
        found.update(range(first, last + 1, int(match["step"] or 1)))
    return frozenset(found)


def _hint(name: str, low: int, high: int, words: dict[str, int]) -> str:
    named = f", one of {', '.join(words)}" if words else ""
    sunday = " Sunday is 0." if name == "day of week" else ""
    return f"Give a number from {low} to {high}{named} or *; a range is {low}-{high}, a step */2.{sunday}"


def _fits(part: str, low: int, high: int, words: dict[str, int]) -> bool:
    match = _PART.fullmatch(part)
    if not match or match["step"] == "0" or (match["step"] and int(match["step"]) <= 0):
        return False
    if match["low"] in ("*", "?"):
        return match["high"] is None
    first = _number(match["low"], words)
    last = _number(match["high"], words) if match["high"] else first
    return first is not None and last is not None and low <= first <= last <= high


def _number(text: str, words: dict[str, int]) -> int | None:
    if text.isascii() and text.isdigit():
        return int(text)
    return words.get(text.lower())
