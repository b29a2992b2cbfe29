"""The variables of a Training: those that users may not set."""

from collections.abc import Iterator

from stowplan.library.dialects.training.places import written
from stowplan.library.frameworks.neutral import dataset_variable
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import TRAINER, Training

_PREFIX = "STOWPLAN_"


def findings(model: Training, trainer: Json) -> Iterator[Finding]:
    """Yield findings about variables that only Stowplan sets, and about names that two variables would have.

    `trainer` is the container with the variables of the spec, its template and its profiles.
    """
    reserved = PLUGINS[model.spec.framework].variables
    for index, variable in enumerate(trainer.get("env") or ()):
        name = str(variable.get("name"))
        if name in reserved or name.startswith(_PREFIX):
            message = (
                f"{name} is set by `framework: {model.spec.framework}`; another value would keep the processes apart."
            )
            hint = "Remove it, or choose `framework: none`, with which you set the variables of a launcher yourself."
            if name.startswith(_PREFIX):
                message, hint = (
                    f"Names that begin with {_PREFIX} are for variables of Stowplan.",
                    "Choose another name.",
                )
            yield finding("SP485", _place(model, name, index), message, hint)
    yield from _twice(model)


def _place(model: Training, name: str, index: int) -> FieldPath:
    """Return the path of a variable in the document: in `env`, else in the template or the name of a profile."""
    for at, variable in enumerate(model.spec.env or ()):
        if variable.get("name") == name:
            return ("spec", "env", at, "name")
    document = model.model_dump(by_alias=True, exclude_unset=True)
    document["spec"].pop("env", None)
    return written(("spec", "containers", 0, "env", index, "name"), {"containers": [TRAINER]}, document)


def _twice(model: Training) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, variable in enumerate(model.spec.env or ()):
        name = str(variable.get("name"))
        if name in seen:
            yield finding("SP492", ("spec", "env", index, "name"), f"{name} is set twice.", "Remove one of the two.")
        seen.add(name)
    names: dict[str, str] = {}
    for index, dataset in enumerate(model.spec.datasets or ()):
        name = dataset_variable(dataset.name)
        if name in names:
            message = f"The path of {dataset.name} would be in {name}, as that of {names[name]} is."
            hint = "Mount a dataset once, and give datasets names that differ in more than `-` and `.`."
            yield finding("SP492", ("spec", "datasets", index, "name"), message, hint)
        names.setdefault(name, dataset.name)
