"""Packages compared with what is used in their place, in ratios of one run: `python -m tests.bench.packages`.

Each line has the milliseconds of both for the same work, the least of five rounds, and how many times longer the
package takes.
"""

import sys
from collections.abc import Callable
from importlib.metadata import distribution
from io import StringIO
from subprocess import run
from time import perf_counter
from typing import Any

import jsonschema
import ruamel.yaml
import yaml

from stowplan.compiler.kubernetes.schemas import definitions, object_problems
from stowplan.compiler.yaml import reader
from stowplan.compiler.yaml.emitter import emit
from tests.repositories import EXAMPLES, REPOSITORY

ROUNDS = 5
VERSION = "1.35"
POD = "io.k8s.api.core.v1.PodSpec"


def main() -> None:
    """Print the table."""
    specs = [path.read_text() for path in sorted(EXAMPLES["kitchen-sink"].glob("specs/*.yaml"))]
    manifests = [
        yaml.safe_load(path.read_text()) for path in sorted((REPOSITORY / "out/kitchen-sink").rglob("job-*.yaml"))
    ]
    pods = [each["spec"]["template"]["spec"] for each in manifests]
    slow = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{POD}", "$defs": definitions(VERSION, [POD])})
    safe = ruamel.yaml.YAML(typ="safe", pure=True)
    assert all(slow.is_valid(each) for each in pods)
    rows: dict[str, dict[str, Callable[[], Any]]] = {
        "read specs": {
            "ruamel.yaml": lambda: [list(safe.load_all(each)) for each in specs],
            "libyaml, with the place of each value": lambda: [reader.read(each, "a.yaml") for each in specs],
        },
        "write manifests": {
            "ruamel.yaml": lambda: [safe.dump(each, StringIO()) for each in manifests],
            "`yaml/emitter.py`": lambda: [emit(each) for each in manifests],
        },
        "check by the schemas of Kubernetes": {
            "jsonschema, pods alone": lambda: [slow.is_valid(each) for each in pods],
            "jsonschema-rs, whole Jobs": lambda: [object_problems(VERSION, each) for each in manifests],
        },
        "start": {
            "kubernetes": lambda: _imported("kubernetes.client"),
            "httpx": lambda: _imported("httpx"),
        },
    }
    for work, ways in rows.items():
        (package, first), (other, second) = ((name, _milliseconds(way)) for name, way in ways.items())
        line = f"| {work} | {package}: {first:.1f} ms | {other}: {second:.1f} ms | {first / second:.1f} |"
        sys.stdout.write(f"{line}\n")
    for name in ("kubernetes", "httpx"):
        size = sum(each.size or 0 for each in distribution(name).files or ())
        sys.stdout.write(f"{name}: {size / 1e6:.1f} MB\n")


def _imported(module: str) -> None:
    run([sys.executable, "-c", f"import {module}"], check=True)


def _milliseconds(work: Callable[[], Any]) -> float:
    def once() -> float:
        begun = perf_counter()
        work()
        return perf_counter() - begun

    work()
    return min(once() for _ in range(ROUNDS)) * 1000


if __name__ == "__main__":
    main()
