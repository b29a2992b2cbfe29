"""The page about the variables of a Training: those of the compiled examples, and the names that are reserved."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from docs.reference import markdown, old_jobs
from stowplan.library.frameworks import neutral
from stowplan.library.frameworks.registry import PLUGINS

_ROOT = Path(__file__).parents[2]
_SPECS = _ROOT / "examples/training/specs"
_OUT = _ROOT / "out/training/ml"


def page() -> str:
    """Return the page."""
    return "\n".join(_page())


def _page() -> Iterator[str]:
    yield "# Variables"
    yield ""
    yield "What the processes of training jobs find in their environment, as examples of this repository compile to it."
    yield "A field of the pod that its node fills in is in brackets."
    yield ""
    yield "## Of every Training"
    yield ""
    yield f"Reserved: {_names(neutral.VARIABLES)}. `env` of a Training may not set reserved names."
    for file in sorted(_SPECS.glob("*.yaml")):
        for spec in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            if spec and spec["kind"] == "Training":
                yield from _framework(spec, file.name)
    yield from old_jobs.sections()


def _framework(spec: dict[str, Any], file: str) -> Iterator[str]:
    name, framework = spec["metadata"]["name"], spec["spec"]["framework"]
    yield ""
    yield f"## {framework}: {name}"
    yield ""
    yield f"`{file}`. Reserved besides: {_names(PLUGINS[framework].variables) or 'none'}."
    yield ""
    yield "| Variable | Value |"
    yield "|---|---|"
    for each in _variables(name):
        yield f"| `{each['name']}` | {markdown.variable(each)} |"


def _variables(name: str) -> list[dict[str, Any]]:
    """Return the variables of the trainer in the compiled workload of a Training."""
    for file in sorted((_OUT / f"training-{name}").glob("*.yaml")):
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
        if found := _trainer(document):
            return found
    return []


def _trainer(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("name") == "trainer" and "env" in value:
            found: list[dict[str, Any]] = value["env"]
            return found
        value = list(value.values())
    below = (_trainer(each) for each in value) if isinstance(value, list) else ()
    return next(filter(None, below), [])


def _names(names: frozenset[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))
