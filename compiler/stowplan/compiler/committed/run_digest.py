"""The whole digest of a run, by which somebody names exactly the run that was reviewed.

The hash at the end of the names of a run has 40 bits, and whoever writes a spec can find two runs with the same one.
"""

from collections.abc import Iterable
from hashlib import sha256

from stowplan.compiler.kubernetes.fields import identity, mapping
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.library.manifest import Json
from stowplan.library.values.canonical_json import canonical

_APART = frozenset({"apiVersion", "kind", "metadata", "status"})
_SIZE = frozenset({"completions"})
_MUTABLE = {(kind.group, kind.kind): kind.mutable | _SIZE for kind in ENGINE_KINDS if kind.mutable is not None}
"""Fields of `spec` that may change in an existing object, and the size of an elastic job: they make no other run."""


def of_objects(bodies: Iterable[Json]) -> str:
    """Return the digest of the objects of a run, as `sha256:…`; empty without any.

    It covers what each of them does. Labels and annotations do nothing, and say where the spec is.
    """
    parts = sorted(canonical([identity(body), _content(body)]) for body in bodies)
    return f"sha256:{sha256(canonical([each.decode() for each in parts])).hexdigest()}" if parts else ""


def _content(body: Json) -> Json:
    own = identity(body)
    content = {key: value for key, value in body.items() if key not in _APART}
    mutable = _MUTABLE.get((own.group, own.kind))
    if mutable is None:
        return content
    return {**content, "spec": {key: value for key, value in mapping(body, "spec").items() if key not in mutable}}
