"""Common input of all peers: the specs, read as fast as Python reads YAML."""

import json
import sys
from collections.abc import Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import yaml

FILES, REPO, OUT = (Path(each) for each in sys.argv[1:4])
"""Templates, the repository with the specs, and the folder to write to, which is not there yet."""


def specs() -> Iterator[tuple[str, dict[str, Any]]]:
    """A name for a file of output, and the values of each spec. Nothing is checked."""
    places = json.loads((FILES / "places.json").read_bytes())
    for path in sorted((REPO / "specs").rglob("*.yaml")):
        document = yaml.load(path.read_bytes(), yaml.CSafeLoader)
        kind = document["kind"]
        values = {slot: reduce(getitem, place, document) for slot, place in places[kind].items()}
        yield path.stem, {"kind": kind, **values}


def batches(size: int) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """The specs, so many at once."""
    batch: list[tuple[str, dict[str, Any]]] = []
    for each in specs():
        batch.append(each)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def write(name: str, text: str) -> None:
    """One file of output. JSON is YAML too."""
    (OUT / f"{name}.yaml").write_text(text, encoding="utf-8")


def fill(value: Any, values: dict[str, Any]) -> Any:
    """A body without slots."""
    if isinstance(value, dict):
        if "⟦slot⟧" in value:
            return filled(value["⟦slot⟧"], values)
        return {key: fill(below, values) for key, below in value.items()}
    return [fill(each, values) for each in value] if isinstance(value, list) else value


def filled(parts: list[Any], values: dict[str, Any]) -> Any:
    """What stands in a slot: a number with its factor, or constants and values in turn."""
    if isinstance(parts[1], int):
        return values[parts[0]] * parts[1]
    return "".join(str(values[part]) if index % 2 else part for index, part in enumerate(parts))
