"""Wording of the user's values in messages about YAML."""

from stowplan.compiler.diagnostics.document import Data


def shown(text: str) -> str:
    """Return a user's string for a message: on one line, cut after 60 characters."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:60])
    return line if len(text) <= 60 else f"{line}…"


def named(value: Data) -> str:
    """Return words for a value of a wrong type in a message, such as `the number 3` or `a list`."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f'the string "{shown(value)}"'
        case list():
            return "a list"
        case _:
            return "a mapping"
