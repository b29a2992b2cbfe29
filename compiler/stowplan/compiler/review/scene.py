"""One output folder before and after a change, as objects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stowplan.compiler.diff.change import Change
from stowplan.compiler.diff.environments import EnvironmentColumn
from stowplan.compiler.kubernetes.fields import identity, mapping, spec_of
from stowplan.compiler.model import OutputFile, Program
from stowplan.compiler.output.read_back import reread
from stowplan.compiler.output.render import carries_header, render
from stowplan.compiler.pins.pin_changes import PinChange
from stowplan.library.builders import gate
from stowplan.library.engines.registry import STARTING_KINDS
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.library.values.names import LABEL_LIMIT, shorten
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId

Objects = Mapping[str, Json]
"""Objects by the path of their file."""


@dataclass(frozen=True)
class Scene:
    """One output folder before and after the change.

    `name` is its environment or cluster, empty without environments. `files` are the contents of its files before, by
    path. `outputs` are the compiled objects.
    """

    name: str
    files: Mapping[str, bytes]
    outputs: Sequence[OutputFile]
    changes: Sequence[Change]
    program: Program

    @cached_property
    def before(self) -> Objects:
        """The objects before, of all files that Stowplan wrote."""
        now, found = self.after, {}
        for path, content in self.files.items():
            if not path.endswith(".yaml") or not carries_header(content):
                continue
            if path in now and content == self.texts[path]:
                found[path] = now[path]
            elif body := reread(content):
                found[path] = body
        return found

    @cached_property
    def after(self) -> Objects:
        """The objects after the change."""
        return {each.path: each.manifest.body for each in self.outputs if each.path.endswith(".yaml")}

    @cached_property
    def texts(self) -> Mapping[str, bytes]:
        """The contents of the files after the change."""
        return {each.path: each.reused or render(each) for each in self.outputs if each.path.endswith(".yaml")}

    @cached_property
    def places(self) -> Mapping[str, OutputFile]:
        """The compiled objects by path."""
        return {each.path: each for each in self.outputs}

    def titled(self, text: str) -> str:
        """Return a text that names the environment, if there is one."""
        return f"{text} ({self.name})" if self.name else text


@dataclass(frozen=True, slots=True)
class Scenes:
    """All output folders of a change; `columns` is what each has of every spec, if there are several environments.

    `moved` are the pins that moved since the base commit; None without one.
    """

    all: tuple[Scene, ...]
    columns: tuple[EnvironmentColumn, ...] = ()
    moved: Sequence[PinChange] | None = None


def specs(objects: Objects) -> dict[SpecId, tuple[str, Json]]:
    """Return path and body of each custom resource by its spec, which is as from `cut`; sorted by spec."""
    resources = ((path, body) for path, body in objects.items() if body.get("kind") in KINDS)
    found = {cut(SpecId(*identity(body)[1:])): (path, body) for path, body in resources}
    return dict(sorted(found.items()))


def runs(objects: Objects) -> Iterator[tuple[SpecId, str, Json]]:
    """Yield spec (as from `cut`), path and body of the Jobs and JobSets that a sync starts: no gates, none held."""
    for path, body in objects.items():
        if body.get("kind") in STARTING_KINDS and not gate.is_gate(body) and (spec := spec_of(body)):
            held = mapping(body, "spec").get("suspend") and not gate.waits(body)
            if not held:
                yield spec, path, body


def component(body: Json) -> str:
    """Return which part of its spec an object is, such as `sync`."""
    return str(mapping(body, "metadata", "labels").get(labels.COMPONENT, ""))


def cut(spec: SpecId) -> SpecId:
    """Return a spec as the labels of its objects have it: with its name cut."""
    return spec._replace(name=shorten(spec.name, LABEL_LIMIT))
