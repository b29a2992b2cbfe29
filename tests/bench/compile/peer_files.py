"""Input files of the peers: their templates, and the positions of a spec's values in them."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from stowplan.schema.platform.settings import KUBERNETES_VERSIONS
from tests.bench.compile.templates import SAMPLES, Number, Text, expression
from tests.bench.compile.workload import PLACES

JSON_WORDS = ("null", "true", "false")
CHECKS = {"str": "len({0}) > 0", "int": "{0} > 0"}


def write(folder: Path, templates: Mapping[str, list[Any]]) -> None:
    """Everything, below a new folder."""
    folder.mkdir()
    (folder / "places.json").write_text(json.dumps(PLACES), encoding="utf-8")
    (folder / "template.jsonnet").write_text(_jsonnet(templates), encoding="utf-8")
    (folder / "template.k").write_text(_kcl(templates), encoding="utf-8")
    _json(folder / "bodies.json", templates)
    _schemas(folder / "schemas", [body for bodies in templates.values() for body in bodies])
    for kind, bodies in templates.items():
        _chart(folder / "charts" / kind, bodies)
        _base(folder / "base" / kind, kind, bodies)


def _jsonnet(templates: Mapping[str, list[Any]]) -> str:
    """A function from the values of many specs to a text with all objects of each."""
    kinds = []
    for kind, bodies in templates.items():
        text = expression(
            bodies,
            # Whatever is added to a text becomes one.
            lambda each: " + ".join(["''", *each.joined(lambda slot: f"v.{slot}", json.dumps)]),
            lambda each: f"v.{each.slot} * {each.factor}",
            JSON_WORDS,
        )
        kinds.append(f"  {kind}(v): {text},\n")
    listed = "{apiVersion: 'v1', kind: 'List', items: kinds[v.kind](v)}"
    wanted = f"function(specs) [std.manifestJsonMinified({listed}) for v in specs]"
    return f"local kinds = {{\n{''.join(kinds)}}};\n{wanted}\n"


def _kcl(templates: Mapping[str, list[Any]]) -> str:
    """A schema with checks for each kind, and the objects as one of its attributes."""
    return "\n".join(_kcl_schema(kind, bodies) for kind, bodies in templates.items())


def _kcl_schema(kind: str, bodies: list[Any]) -> str:
    types = {slot: type(value).__name__ for slot, value in SAMPLES[kind].items()}
    objects = expression(
        bodies,
        lambda each: " + ".join(each.joined(lambda slot: slot if types[slot] == "str" else f"str({slot})", json.dumps)),
        lambda each: f"{each.slot} * {each.factor}",
        ("None", "True", "False"),
    )
    lines = [f"schema {kind}:", *(f"    {slot}: {name}" for slot, name in types.items())]
    lines += ["    kind: str", f"    objects: [any] = {objects}", "    check:"]
    lines += [f"        {CHECKS[name].format(slot)}" for slot, name in types.items()]
    return "\n".join(lines) + "\n"


def _chart(folder: Path, bodies: list[Any]) -> None:
    """A Helm chart with one template for each object."""
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: bench\nversion: 0.1.0\n", encoding="utf-8")
    for number, body in enumerate(bodies):
        (folder / "templates" / f"{number}.yaml").write_text(_dumped(body), encoding="utf-8")


class _Dumper(yaml.CSafeDumper):
    """Writes slots as Helm knows them: texts in quotes, numbers bare."""


def _helm_text(dumper: yaml.CSafeDumper, text: Text) -> yaml.ScalarNode:
    joined = "".join(text.joined(lambda slot: f"{{{{ .Values.{slot} }}}}"))
    return dumper.represent_scalar("tag:yaml.org,2002:str", joined, style='"')


def _helm_number(dumper: yaml.CSafeDumper, number: Number) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", f"<<{number.slot}*{number.factor}>>")


_Dumper.add_representer(Text, _helm_text)
_Dumper.add_representer(Number, _helm_number)


def _dumped(body: Any) -> str:
    text = yaml.dump(body, Dumper=_Dumper, width=1_000_000, sort_keys=False)
    for slot in {slot for values in SAMPLES.values() for slot in values}:
        for factor in range(1, 11):
            value = f".Values.{slot}" if factor == 1 else f"mul .Values.{slot} {factor}"
            text = text.replace(f"<<{slot}*{factor}>>", f"{{{{ {value} }}}}")
    return text


def _schemas(folder: Path, bodies: list[Any]) -> None:
    """The schemas of Kubernetes' own kinds among the objects, each in a file named as kubeconform names it."""
    folder.mkdir()
    strict = f"kubernetes-json-schema/v{KUBERNETES_VERSIONS[0]}.0-local-strict/_definitions.json"
    definitions = json.loads(files("kubernetes_validate").joinpath(strict).read_bytes())["$defs"]
    used = {(*body["apiVersion"].rpartition("/")[::2], body["kind"]) for body in bodies}
    for name, schema in definitions.items():
        for each in schema.get("x-kubernetes-group-version-kind", ()):
            group, version, kind = each["group"], each["version"], each["kind"]
            if (group, version, kind) in used:
                parts = [part.lower() for part in (kind, group.partition(".")[0], version) if part]
                (folder / f"{'-'.join(parts)}.json").write_text(json.dumps(_closed(name, definitions)))


def _closed(name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """A schema with all that it refers to."""
    found: dict[str, Any] = {}
    wanted = [name]
    while wanted:
        each = wanted.pop()
        if each not in found:
            text = json.dumps(definitions[each])
            found[each] = json.loads(text.replace("_definitions.json#", "#"))
            wanted += re.findall(r'"\$ref": "[^"]*#/\$defs/([^"]+)"', text)
    return {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": f"#/$defs/{name}", "$defs": found}


def _base(folder: Path, kind: str, bodies: list[Any]) -> None:
    """A base of kustomize with the sample's values, and which patches an overlay has."""
    folder.mkdir(parents=True)
    names = []
    patches = []
    for number, body in enumerate(bodies):
        plain = filled(body, SAMPLES[kind])
        names.append(f"{number}.yaml")
        (folder / names[-1]).write_text(yaml.dump(plain, Dumper=yaml.CSafeDumper), encoding="utf-8")
        target = {"kind": plain["kind"], "name": plain["metadata"]["name"]}
        patches.append({"target": target, "slots": [[path, _flat(slot)] for path, slot in slots(body)]})
    (folder / "kustomization.yaml").write_text(yaml.dump({"resources": names}), encoding="utf-8")
    (folder / "patches.json").write_text(json.dumps(patches), encoding="utf-8")


def _json(path: Path, templates: Mapping[str, list[Any]]) -> None:
    """Bodies with slots as `{"slot": …}`."""
    path.write_text(json.dumps(templates, default=_marked), encoding="utf-8")


def _marked(value: Text | Number) -> dict[str, Any]:
    return {"⟦slot⟧": _flat(value)}


def _flat(value: Text | Number) -> list[Any]:
    """A list of parts, or a slot and its factor."""
    return list(value.parts) if isinstance(value, Text) else [value.slot, value.factor]


def filled(value: Any, values: Mapping[str, Any]) -> Any:
    """The object that a template gives with these values."""
    match value:
        case Text():
            return "".join(value.joined(lambda slot: str(values[slot])))
        case Number():
            return values[value.slot] * value.factor
        case dict():
            return {key: filled(below, values) for key, below in value.items()}
        case list():
            return [filled(below, values) for below in value]
        case _:
            return value


def slots(value: Any, path: str = "") -> Iterator[tuple[str, Text | Number]]:
    """All slots with their JSON pointers."""
    match value:
        case Text() | Number():
            yield path, value
        case dict():
            for key, below in value.items():
                yield from slots(below, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
        case list():
            for index, below in enumerate(value):
                yield from slots(below, f"{path}/{index}")
