"""Origins of the changed values of the output: which changed fields of specs they depend on."""

from collections.abc import Mapping
from dataclasses import replace

from stowplan.compiler.diff.change import Change
from stowplan.compiler.diff.fields import Field
from stowplan.compiler.provenance.experiment import Experiment, Input, ObjectKey, key_of
from stowplan.compiler.provenance.leaves import INSIDE, Place, leaves
from stowplan.compiler.provenance.source_map import reduced, repeated_field
from stowplan.compiler.review.model import ChangeOrigin, SourceLine
from stowplan.compiler.review.scene import Scene, cut, specs
from stowplan.schema.diagnostics import FieldPath, dotted
from stowplan.schema.meta import SpecId

MOST_EXPERIMENTS = 60
"""How often specs are compiled again with another value to find what depends on it: 10 to 20 ms each."""
MOST_ORIGINS = 3

_Where = tuple[ObjectKey, tuple[str, ...]]


class Origins:
    """The origins of the changed values in one output folder; `version` is that of Stowplan.

    Each field that differs in a spec gets another value, once, and what changes with it depends on it. Values that
    change for other reasons, such as the platform file or another version of Stowplan, have no origin here.
    """

    def __init__(self, scene: Scene, version: str) -> None:
        self._scene, self._version = scene, version
        self._changed = _changed_fields(scene)
        self._found: dict[SpecId, Mapping[_Where, list[ChangeOrigin]]] = {}
        self._left = MOST_EXPERIMENTS

    def of(self, change: Change, field: Field) -> tuple[ChangeOrigin, ...]:
        """Return up to `MOST_ORIGINS` origins of a changed field, or of the values below it; empty if none is known."""
        output = self._scene.places.get(change.path)
        if output is None or output.spec is None:
            return ()
        if output.spec not in self._found:
            self._found[output.spec] = self._search(output.spec)
        key, path = key_of(output.manifest), tuple(map(str, field.path))
        own = self._found[output.spec]
        found = [each for (of, place), held in own.items() if of == key and _near(place, path) for each in held]
        spec = self._scene.program.spec(output.spec)
        if not found and (copied := repeated_field(spec, output.manifest.kind, field.path, field.after)):
            found = [replace(_origin(copied), text=f"copied from {dotted(field.path)}")]
        return tuple(dict.fromkeys(found))[:MOST_ORIGINS]

    def _search(self, spec: SpecId) -> Mapping[_Where, list[ChangeOrigin]]:
        experiment = Experiment(reduced(self._scene.program, spec), spec, self._version)
        found: dict[_Where, list[ChangeOrigin]] = {}
        for given in experiment.inputs():
            if not self._differs(given):
                continue
            if self._left <= 0:
                break
            self._left -= 1
            origin = _origin(given)
            for key, place in experiment.depend(given) or experiment.vanish(given):
                found.setdefault((key, _plain(place)), []).append(origin)
        return found

    def _differs(self, given: Input) -> bool:
        if given.spec is None:
            return False
        paths = self._changed.get(cut(given.spec), ())
        return any(given.path[: len(path)] == path or path[: len(given.path)] == given.path for path in paths)


def _changed_fields(scene: Scene) -> dict[SpecId, tuple[FieldPath, ...]]:
    """Return the paths of the values that differ between the custom resources before and after, by spec."""
    before, after = specs(scene.before), specs(scene.after)
    found = {}
    for spec, (_, body) in after.items():
        old = leaves(before[spec][1].get("spec") or {}) if spec in before else {}
        new = leaves(body.get("spec") or {})
        paths = [leaf.path for place, leaf in new.items() if place not in old or old[place].value != leaf.value]
        paths += [leaf.path for place, leaf in old.items() if place not in new]
        if paths:
            found[spec] = tuple(("spec", *path) for path in dict.fromkeys(paths))
    return found


def _plain(place: Place) -> tuple[str, ...]:
    """Return a place in the form of the paths of changed fields: names in place of indices, no step into strings."""
    return tuple(str(part).removeprefix("=") for part in place if part != INSIDE)


def _near(place: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return place[: len(path)] == path or path[: len(place)] == place


def _origin(given: Input) -> ChangeOrigin:
    if not given.given:
        return ChangeOrigin(f"the default of {dotted(given.path)}", None)
    at = given.document.locate(given.path)
    return ChangeOrigin(dotted(given.path), SourceLine(at.file, at.line))
