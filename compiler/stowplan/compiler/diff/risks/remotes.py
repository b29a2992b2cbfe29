"""Hosts and buckets that the data of specs comes from or goes to."""

import re
from collections.abc import Iterable, Iterator, Sequence

from stowplan.compiler.diff.change import Danger, Pair, Risk
from stowplan.compiler.kubernetes.fields import identity, mapping, strings
from stowplan.library.manifest import Json
from stowplan.schema.kinds.table import KINDS, TRAINING_KINDS

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:[^/?#@\s]*@)?(?P<host>[^/?#\s]+)")
_SSH = re.compile(r"[\w.-]+@(?P<host>[\w.-]+):(?!//)", re.ASCII)
"""The short form of Git, such as `git@example.com:ml/data.git`."""
_HOSTS = "hosts"
"""Field that lists hosts to which a server may redirect an agent."""
_OF_TRAININGS = ("code", "outputs")
"""Fields of a training job that Stowplan reads; the others are for the user's programs."""


def reached(pairs: Sequence[Pair], unchanged: Iterable[Json]) -> dict[str, list[Risk]]:
    """Return the risks of new hosts and buckets, by path of the object's file. Empty if there was no output before.

    For a spec that is changed, each is new that it did not have; for a new spec, each that no spec had. `unchanged` are
    the objects that are the same before and after.
    """
    old = [*unchanged, *(pair.before for pair in pairs if pair.before)]
    known = {place for body in old for place in _places(body)}
    found: dict[str, list[Risk]] = {}
    for pair in pairs if old else ():
        if pair.after is None:
            continue
        before = set(_places(pair.before)) if pair.before else known
        new = sorted(set(_places(pair.after)) - before)
        if new:
            found[pair.path] = [Risk(Danger.RIGHTS, f"Its data comes from {each}, or goes there.") for each in new]
    return found


def _places(body: Json) -> Iterator[str]:
    """Yield the hosts and buckets in the custom resource of a spec; none for other objects."""
    own = identity(body)
    known = KINDS.get(own.kind)
    if known is None or known.group != own.group:
        return
    spec = mapping(body, "spec")
    given = [spec.get(field) for field in _OF_TRAININGS] if own.kind in TRAINING_KINDS else [spec]
    for path, text in strings(given):
        if path[-2:-1] == (_HOSTS,) and isinstance(path[-1], int):
            yield text
        yield from _place(text)


def _place(text: str) -> Iterator[str]:
    if found := _URL.match(text):
        scheme, host = found["scheme"].lower(), found["host"].lower()
        yield host if scheme in ("http", "https", "ssh", "git") else f"{scheme}://{host}"
    elif found := _SSH.match(text):
        yield found["host"].lower()
