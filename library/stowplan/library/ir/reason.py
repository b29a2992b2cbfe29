"""Reasons for values in objects that no field of a spec decides, for `stowplan explain`."""

from typing import NamedTuple


class Reason(NamedTuple):
    """A sentence about the values at some places of an object.

    `places` are patterns, separated by blanks, as in `stowplan.compiler.provenance.rules`.
    """

    id: str
    text: str
    places: str
