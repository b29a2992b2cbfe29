"""Reasons for values in objects that no field of a spec decides, for `stowplan explain`."""

from typing import NamedTuple


class Reason(NamedTuple):
    """A sentence about the values at some places of an object.

    `id` is a short name for it. `places` are patterns of JSON pointers, separated by blanks, such as `/spec/**`. `pod`
    stands for the path of a pod template, `job` for that of a Job, `*` for one step, and `**` at the end for any
    number.
    """

    id: str
    text: str
    places: str
