"""Objects of engines fit the engines' CRDs, which are not part of this repository.

Here are those of old jobs. `tests/invariants.py` has the rule for all cases and examples.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from stowplan.compiler.checks.objects.strict_schema import strict_schema
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.compiler.kubernetes.schema_checker import Checker
from stowplan.library.manifest import Json
from tests.repositories import CORPUS, REPOSITORY, Result, compiled, corpus

FOLDER = REPOSITORY.parent / "shared" / "crds" / "engines"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the CRDs of the engines are not beside this repository")

PLATFORM = "kind: Platform\nimages: {{registry: registry.example.com/ml}}\nengines: {{{}}}\n---\n"
ENGINES = [
    "jobs: jobset",
    "jobs: jobset, gang: volcano",
    "jobs: jobset, gang: coscheduling",
    "jobs: jobset, gang: kueue, queue: q",
]


@pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")
@pytest.mark.parametrize("engines", ENGINES)
def test_those_of_old_jobs_fit_the_crds(engines: str, tmp_path: Path) -> None:
    files = corpus()
    first = next(iter(files))
    result = compiled(tmp_path, {**files, first: PLATFORM.format(engines) + files[first]})
    assert result.errors == []
    assert list(misfits(result)) == []
    kinds = {"MxJob", "PaddleJob", "TrainingJob"}
    assert {each.spec.kind for each in result.outputs if each.manifest.kind == "JobSet" and each.spec} == kinds


def misfits(result: Result) -> Iterator[str]:
    """Fields of engines' objects that their CRDs refuse, or that they do not have."""
    for output in result.outputs:
        manifest = output.manifest
        if checker := checkers().get((manifest.api_version, manifest.kind)):
            yield from (
                f"{output.path}: {problem.path}: {problem.message}" for problem in checker.problems(manifest.body)
            )


@cache
def checkers() -> dict[tuple[str, str], Checker]:
    """A checker for each version and kind, as strict as a server that refuses unknown fields; none without CRDs."""
    return dict(_checkers())


def _checkers() -> Iterator[tuple[tuple[str, str], Checker]]:
    for path in sorted(FOLDER.glob("*.yaml")):
        definition: Json = yaml.load(path.read_text(), yaml.CSafeLoader)
        spec = mapping(definition, "spec")
        for version in items(definition, "spec", "versions"):
            schema = mapping(version, "schema", "openAPIV3Schema")
            yield (f"{spec['group']}/{version['name']}", spec["names"]["kind"]), Checker(strict_schema(schema))
