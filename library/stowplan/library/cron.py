"""Cron expressions, as the CronJob controller reads them (robfig/cron v3, `ParseStandard`)."""

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
_EVERY = re.compile(r"@every (\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+")
_PART = re.compile(r"(?P<low>\*|\?|\w+)(-(?P<high>\w+))?(/(?P<step>\d+))?")


def problem(expression: str) -> str | None:
    """What is wrong with the expression, or None. A time zone inside it is refused, as by Kubernetes since 1.29."""
    if expression.startswith(("TZ=", "CRON_TZ=")):
        return "A time zone cannot stand in the schedule; there is `timeZone` for it."
    if expression.startswith("@"):
        known = expression in _WORDS or _EVERY.fullmatch(expression)
        return None if known else f'"{expression}" is not a word that cron knows.'
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        return f'"{expression}" has {len(fields)} fields; a schedule has 5.'
    for text, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            if not _fits(part, low, high, words):
                return f'"{part}" is not a {name} from {low} to {high}.'
    return None


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
