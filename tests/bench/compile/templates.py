"""Templates for other programs, made mechanically from Stowplan's output for one spec of each kind.

Each value of that spec is unique. Every occurrence of it in the output becomes a slot of the template. Digests of
content exist only in Stowplan, so templates have a fixed word in their place.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.bench.compile.workload import Spec, Value

DIGEST = re.compile(r"(?<![a-z0-9])[a-z2-7]{8}(?![a-z0-9])")
DIGESTED = "digested"
"""Stands for every digest."""

MOST = 10
"""A number is at most so many times the value that it comes from."""

SAMPLES: Mapping[str, Mapping[str, Value]] = {
    "DataCube": {
        "name": "qqcopy",
        "namespace": "qqnamespace",
        "endpoint": "https://qqendpoint.example.com",
        "uri": "s3://qquri/qq/",
        "size": "7919Gi",
        "deadline": 7717,
    },
    "MxJob": {
        "name": "qqtrain",
        "namespace": "qqnamespace",
        "image": "qqimage.example.com/qq:1",
        "script": "qqqscript.py",
        "servers": 149,
        "workers": 211,
    },
}
OTHERS = {kind: {**values, "name": f"zz{values['name']}"} for kind, values in SAMPLES.items()}
"""Compiled beside the samples, they have the same words and other digests."""


@dataclass(frozen=True)
class Text:
    """A text with slots: constants and names of slots in turn, a constant first and last."""

    parts: tuple[str, ...]

    def joined(self, slot: Callable[[str], str], constant: Callable[[str], str] = str) -> list[str]:
        """Each part as a program writes it; empty constants are left out."""
        wanted = enumerate(self.parts)
        return [slot(part) if index % 2 else constant(part) for index, part in wanted if index % 2 or part]


@dataclass(frozen=True)
class Number:
    """A number from a slot, so many times."""

    slot: str
    factor: int


def samples() -> list[Spec]:
    """What the templates are made of."""
    return [Spec(kind, values) for given in (SAMPLES, OTHERS) for kind, values in given.items()]


class Words:
    """The words of eight letters that are no digests."""

    def __init__(self, out: Path) -> None:
        found = [set(DIGEST.findall(_texts(out, spec))) for spec in samples()]
        self._known = set[str]()
        for one, other in zip(found[: len(SAMPLES)], found[len(SAMPLES) :], strict=True):
            self._known |= one & other

    def masked(self, text: str) -> str:
        """Without digests."""
        return DIGEST.sub(lambda found: found[0] if found[0] in self._known else DIGESTED, text)


def documents(out: Path, spec: Spec) -> list[Any]:
    """What a spec was compiled to."""
    folder = out / str(spec.values["namespace"]) / f"{spec.kind.lower()}-{spec.values['name']}"
    return [_read(path) for path in sorted(folder.iterdir())]


def _texts(out: Path, spec: Spec) -> str:
    return json.dumps(documents(out, spec))


def _read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def templates(out: Path) -> dict[str, list[Any]]:
    """The objects of each kind with slots in them. `out` holds the compiled samples."""
    words = Words(out)
    return {
        spec.kind: [_slotted(words, body, spec.values) for body in documents(out, spec)]
        for spec in samples()[: len(SAMPLES)]
    }


def _slotted(words: Words, value: Any, values: Mapping[str, Value]) -> Any:
    match value:
        case dict():
            return {key: _slotted(words, below, values) for key, below in value.items()}
        case list():
            return [_slotted(words, below, values) for below in value]
        case str():
            return _text(words.masked(value), values)
        case bool() | None | float():
            return value
        case _:
            return _number(value, values)


def _text(text: str, values: Mapping[str, Value]) -> str | Text:
    slots = {str(value): slot for slot, value in values.items()}
    if text in slots:
        return Text(("", slots[text], ""))
    wanted = sorted((each for each in values.values() if isinstance(each, str)), key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, wanted))})", text)
    return Text(tuple(slots[part] if index % 2 else part for index, part in enumerate(parts))) if parts[1:] else text


def _number(number: int, values: Mapping[str, Value]) -> int | Number:
    for slot, value in values.items():
        if isinstance(value, int) and number % value == 0 and 1 <= number // value <= MOST:
            return Number(slot, number // value)
    return number


def expression(value: Any, text: Callable[[Text], str], number: Callable[[Number], str], words: Iterable[str]) -> str:
    """A literal in a language that writes objects as JSON does; `words` are its null, true and false."""
    null, true, false = words

    def written(value: Any) -> str:
        match value:
            case Text():
                return text(value)
            case Number():
                return number(value)
            case dict():
                return f"{{{', '.join(f'{json.dumps(key)}: {written(below)}' for key, below in value.items())}}}"
            case list():
                return f"[{', '.join(map(written, value))}]"
            case bool() | None:
                return {None: null, True: true, False: false}[value]
            case _:
                return json.dumps(value)

    return written(value)
