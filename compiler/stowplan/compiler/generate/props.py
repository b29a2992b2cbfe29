"""The constructs of kinds, and their props as Python types, made from the models."""

from collections import defaultdict
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import Model

_HEAD = '''"""Props of the constructs: the fields of the specs. Generated: `make generate` writes this file anew."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

'''

_KINDS = '''"""Constructs of all kinds. Generated: `make generate` writes this file anew."""

from collections.abc import Mapping
from typing import Any, Unpack

from constructs import Construct

from stowplan.library.constructs.generated import props as of_kind
from stowplan.library.constructs.specs import {bases}
{imports}
__all__ = [{names}]
'''

_KIND = '''class {kind}({base}):
    """The kind {kind}; see `SpecConstruct`."""

    KIND = {model}

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        spec: {model} | Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **props: Unpack[of_kind.{kind}Props],
    ) -> None:
        super().__init__(scope, construct_id, spec, metadata, props)
'''

_BASES = {"Dataset": "MountedDataset", "SampleSet": "MountedSampleSet"}
"""Classes with more than the others have; see `constructs.specs`."""

_WIDEST = 121
"""Characters of a line with its end."""

_ABSTRACT = {list: "Sequence", dict: "Mapping"}


def files() -> dict[str, str]:
    """Return the files of the package: constructs, and a TypedDict of the fields of each kind's spec, none required.

    A model in a field may also be given as a mapping, with the keys of the spec. What is missing is found when the spec
    is read, as in a document.
    """
    models: set[type[Model]] = set()
    classes = [_props(kind.name, kind.model.model_fields["spec"].annotation, models) for kind in KINDS.values()]
    props = "\n\n".join([_HEAD + "".join(_imports(models)), *classes])
    return {"__init__.py": "", "kinds.py": _constructs(), "props.py": props}


def _constructs() -> str:
    made, modules = list[str](), defaultdict[str, list[str]](list)
    for kind in KINDS.values():
        package, _, module = kind.model.__module__.rpartition(".")
        modules[package].append(module)
        model = f"{module}.{kind.model.__name__}"
        base = _BASES.get(kind.name, f"SpecConstruct[{model}]")
        made.append(_KIND.format(kind=kind.name, base=base, model=model))
    imports = "".join(f"from {package} import {', '.join(sorted(modules[package]))}\n" for package in sorted(modules))
    names = "".join(f'\n    "{name}",' for name in sorted(KINDS))
    bases = ", ".join(sorted([*_BASES.values(), "SpecConstruct"]))
    return "\n\n".join([_KINDS.format(bases=bases, imports=imports, names=f"{names}\n"), *made])


def _imports(models: set[type[Model]]) -> Iterator[str]:
    for module in sorted({each.__module__ for each in models}):
        names = sorted(each.__name__ for each in models if each.__module__ == module)
        line = f"from {module} import {', '.join(names)}\n"
        own = "".join(f"    {name},\n" for name in names)
        yield line if len(line) <= _WIDEST else f"from {module} import (\n{own})\n"


def _props(kind: str, spec: Any, models: set[type[Model]]) -> str:
    fields = (f"    {name}: {_text(field.annotation, models)}\n" for name, field in spec.model_fields.items())
    return f'class {kind}Props(TypedDict, total=False):\n    """Fields of the spec of a {kind}."""\n\n{"".join(fields)}'


def _text(given: Any, models: set[type[Model]]) -> str:
    """Return an annotation as Python. Models in it are added to `models`."""
    origin, args = get_origin(given), get_args(given)
    if origin is Literal:
        return f"Literal[{', '.join(map(_quoted, args))}]"
    if origin is Annotated:
        return _text(args[0], models)
    below = [_text(each, models) for each in args if each is not NoneType]
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(below))
    if origin:
        return f"{_ABSTRACT[origin]}[{', '.join(below)}]"
    if isinstance(given, type) and issubclass(given, Model):
        models.add(given)
        return f"{given.__name__} | Mapping[str, Any]"
    return "Any" if given is Any else str(given.__name__)


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
