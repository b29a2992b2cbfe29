"""Paths below a directory that agents also write to, such as the root of a dataset or a claim."""

from stowplan.schema.agents.marker import STATE_DIRECTORY, holds_state

_CONTROL = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)))
"""Control characters of ASCII and of Latin-1, and Unicode's line and paragraph separators."""


def problem(path: str, whole: str) -> tuple[str, str] | None:
    """Return message and hint if a path cannot be used below `whole`, such as "dataset"; None if it can.

    It cannot if it holds a control character, `..` or `.stowplan`: agents have their own files in that directory.
    """
    if not _CONTROL.isdisjoint(path):
        return "The path holds a control character.", "Remove it."
    if ".." in path.split("/"):
        return f'"{path}" could leave the {whole}.', "Remove the `..`."
    if holds_state(path):
        return f'"{path}" holds `{STATE_DIRECTORY}`, where the agents keep their own state.', "Choose another path."
    return None
