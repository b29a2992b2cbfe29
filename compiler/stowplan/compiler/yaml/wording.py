"""Wording of the user's values in messages about YAML."""

from stowplan.compiler.diagnostics.document import Data


def shown(text: str) -> str:
    """A user's string for a message: on one line, cut after 60 characters."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:60])
    return line if len(text) <= 60 else f"{line}…"


def named(value: Data) -> str:
    """Describe a value of a wrong type, for a message."""
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
