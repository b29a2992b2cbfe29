"""The page about the constructs: their arguments, attributes and parts."""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docs.reference.markdown import plain
from stowplan.compiler import app
from stowplan.compiler.compiling.reading import read
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.environments.target import Target
from stowplan.compiler.lowering.lower import lower
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.library import constructs
from stowplan.library.constructs.generated import props
from stowplan.library.constructs.specs import DatasetConstruct
from stowplan.library.manifest import Part
from stowplan.schema.kinds.table import KINDS

_EXAMPLES = Path(__file__).parents[2] / "examples"
_MODULE = re.compile(r"\b(?:\w+\.)+(?=[A-Z])|\bself(?:, )?")
_FIELD = re.compile(r"^    (\w+): (.+)$", re.MULTILINE)

_BEGIN = """# Constructs

Every kind is a [cdk8s](https://cdk8s.io) construct of `stowplan.library.constructs`. The
[tutorial](../tutorials/cdk8s-app.md) has an app with them. Their arguments are the fields of the spec, with names in
Python's form; where a model is named, a mapping with the keys of the spec does as well. Parts are constructs in them:
`imagenet.node.find_child("sync")`.
"""


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield _BEGIN
    yield from _about("App", app.App, app.App)
    yield from _about("Every construct", constructs.SpecConstruct, constructs.SpecChart, constructs.SpecConstruct)
    yield from _about("Every dataset", DatasetConstruct, DatasetConstruct)
    for kind in KINDS:
        construct = getattr(constructs, kind)
        own = (each for each in construct.__bases__ if each is not constructs.SpecConstruct)
        yield from _about(kind, construct, *own)
        yield f"Parts: {', '.join(f'`{each}`' for each in sorted(_parts()[kind]))}."
        yield ""
        yield "```python"
        yield from (f"{name}: {given}" for name, given in _FIELD.findall(_source(kind)))
        yield "```"
        yield ""
        yield f"[What the fields mean](kinds/{kind.lower()}.md)."
        yield ""


def _about(title: str, documented: type, *holders: type) -> Iterator[str]:
    """Yield the section about a class, with the public members of `holders`."""
    yield f"## {title} {{ #{title.lower().replace(' ', '-')} }}"
    yield ""
    yield plain(inspect.getdoc(documented) or "")
    yield ""
    for holder in holders:
        for name, member in vars(holder).items():
            text = inspect.getdoc(member)
            if (
                name.islower()
                and not name.startswith("_")
                and text
                and (callable(member) or isinstance(member, property))
            ):
                signature = "" if isinstance(member, property) else _MODULE.sub("", str(inspect.signature(member)))
                yield f"- `{name}{signature}`: {plain(' '.join(text.split()))}"
    yield ""


def _source(kind: str) -> str:
    return inspect.getsource(getattr(props, f"{kind}Props"))


@cache
def _parts() -> dict[str, set[str]]:
    """Return the paths of the parts that the examples have, by kind."""
    found = defaultdict[str, set[str]](set)
    for folder in sorted(path.parent for path in _EXAMPLES.glob("*/specs")):
        checkout, report = Checkout(Repository(folder)), Report()
        reading = read(checkout, Target.whole(checkout.platform), (), report)
        for unit in lower(reading.program.specs, reading.program, reading.context, report):
            found[unit.spec.kind] |= {path for part in unit.parts for path in _paths(part)}
    return found


def _paths(part: Part) -> Iterator[str]:
    yield re.sub(r"\d+$", "0", part.name)
    for each in part.parts:
        yield from (f"{part.name}/{below}" for below in _paths(each))
