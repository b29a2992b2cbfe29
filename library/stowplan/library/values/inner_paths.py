"""Paths below a directory that agents also write to, such as the root of a dataset or a claim."""

from stowplan.schema.agents.marker import STATE_DIRECTORY, holds_state
from stowplan.schema.file_names import LONGEST_NAME, LONGEST_PATH, is_too_long

_CONTROL = frozenset(map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)))
"""Control characters of ASCII and of Latin-1, and Unicode's line and paragraph separators."""


def problem(path: str, whole: str) -> tuple[str, str] | None:
    """Return message and hint if a path cannot be used below `whole`, such as "dataset"; None if it can.

    It cannot if it holds a control character, `..` or `.stowplan`, where agents have their own files, or is too long.
    """
    if not _CONTROL.isdisjoint(path):
        return "The path holds a control character.", "Remove it."
    if ".." in path.split("/"):
        return f'"{path}" could leave the {whole}.', "Remove the `..`."
    if holds_state(path):
        return f'"{path}" holds `{STATE_DIRECTORY}`, where the agents keep their own state.', "Choose another path."
    if is_too_long(path):
        long = f"at most {LONGEST_PATH} bytes are allowed, and {LONGEST_NAME} for each name"
        return f'"{path[:60]}…" is too long for a path: {long}.', "Shorten it."
    return None
