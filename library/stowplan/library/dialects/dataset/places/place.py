"""Interface of a remote as a place of the native kinds: as what they copy from, and what they copy to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from stowplan.library.builders.pods import agent_pod
from stowplan.library.dialects.reading.floating import FloatingReference, Spot
from stowplan.library.ir.data import Remote, SecretName
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.remotes.place import LocalSecret, Place

Given = TypeVar("Given", bound=Place)


def _values(place: Json) -> str:
    return " ".join(str(each) for each in place.values() if isinstance(each, str | int))


def _nothing(place: Any, path: FieldPath) -> Iterable[Any]:  # noqa: ARG001 - as the fields of `PlaceSide`
    return ()


@dataclass(frozen=True, slots=True)
class PlaceSide(Generic[Given]):
    """One remote: `PLACE` of the module with the remote's name.

    `remote` returns a place as the remote side of a transfer in a namespace, that of the spec and of its Secret.
    `findings` returns findings about a place at a path of a document, `of_source` and `of_target` more of them about
    what is copied from, and to. `shown` and `pins` read a place of a document, which may have errors: they return
    its address for reviewers, and what can be pinned.

    An example is `stowplan.library.dialects.dataset.places.toy`::

        '''Toy stores as places of the native kinds.'''

        from stowplan.library.dialects.dataset.places.place import PlaceSide, literals, secret_env
        from stowplan.library.ir.data import Remote
        from stowplan.schema.remotes.toy import ToyEndpoint


        def _remote(place, namespace):
            key = "TOY_KEY" if place.secret_ref else None
            endpoint = ToyEndpoint(pathEnv="TOY_PATH", keyEnv=key, shelf=place.shelf)
            secret = secret_env(place.secret_ref, namespace, {"key": "TOY_KEY"})
            return Remote(endpoint, (*secret, *literals({"TOY_PATH": place.path})), keys=("key",) if key else ())


        PLACE = PlaceSide(_remote)
    """

    remote: Callable[[Given, str], Remote]
    findings: Callable[[Given, FieldPath], Iterable[Finding]] = _nothing
    of_source: Callable[[Any, FieldPath], Iterable[Finding]] = _nothing
    of_target: Callable[[Any, FieldPath], Iterable[Finding]] = _nothing
    shown: Callable[[Json], str] = _values
    pins: Callable[[Json, FieldPath], Iterable[FloatingReference]] = _nothing


def secret_env(
    reference: LocalSecret | None, namespace: str, variables: Mapping[str, str], *, optional: Sequence[str] = ()
) -> tuple[Json, ...]:
    """Return the variables from a place's Secret, in the `namespace` of its spec; none without a Secret.

    `variables` has the name of each variable by the key in the Secret. The keys in `optional` may be missing there.
    """
    if reference is None:
        return ()
    return agent_pod.secret_env(SecretName(namespace, reference.name), variables, optional=optional)


def literals(values: Mapping[str, str | None]) -> tuple[Json, ...]:
    """Return variables with `values`, by name, that are not empty. `$(` is escaped: Kubernetes expands `$(NAME)`."""
    return tuple({"name": name, "value": value.replace("$(", "$$(")} for name, value in values.items() if value)


def spot(place: Json, path: FieldPath, field: str) -> Spot:
    """Return where the `place` at `path` is pinned. `field` is its key for a revision, which it may lack."""
    return Spot((*path, field) if place.get(field) else path, (*path, field))
