"""Objects of many specs share parts: an extension's change of one spec affects no other spec."""

import copy
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.compiler.diagnostics.locations import Mark
from stowplan.compiler.lowering.extensions import Extensions, extend
from stowplan.compiler.lowering.lower import context_of
from stowplan.compiler.model import Program
from stowplan.library.dialects.registry import lower
from stowplan.library.dialects.shared.context import Context
from stowplan.library.manifest import Json, Manifest, Unit
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.platform.platform import Platform
from tests.repositories import CASES
from tests.unit.library.constructs.units import CHECKS

EXTENSION = """
    from cdk8s import JsonPatch

    def build(app, program):
        job = app.spec("{kind}", "{namespace}", "one").object("Job", "{job}")
        container = "/spec/template/spec/containers/0"
        job.add_json_patch(
            JsonPatch.replace(container + "/securityContext/readOnlyRootFilesystem", False),
            JsonPatch.replace(container + "/env/0/value", "/home"),
            JsonPatch.add(container + "/volumeMounts/0/subPath", "own"),
            JsonPatch.add("/spec/podFailurePolicy/rules/0/onExitCodes/values/-", 200),
        )
"""


@pytest.mark.parametrize("case", ["data-cube-s3-download", "mx-job-dist-core"])
def test_a_patch_of_one_spec_changes_no_other(case: str, tmp_path: Path) -> None:
    one, two = _lowered(case, "one"), _lowered(case, "two")
    before = copy.deepcopy((_bodies(one), _bodies(two)))
    name = next(each.name for each in one.manifests if each.kind == "Job" and "securityContext" in _container(each))
    text = EXTENSION.format(kind=one.spec.kind, namespace=one.spec.namespace, job=name)
    (tmp_path / "patch.py").write_text(dedent(text))
    extended = extend(_program(), Extensions((one, two), context_of(_program(), "1")), tmp_path, CHECKS)
    assert extended.diagnostics == ()
    patched, other = extended.units
    job = next(each for each in patched.manifests if each.name == name)
    assert _container(job)["securityContext"]["readOnlyRootFilesystem"] is False
    assert _bodies(other) == before[1]
    assert (_bodies(_lowered(case, "one")), _bodies(_lowered(case, "two"))) == before


def _lowered(case: str, name: str) -> Unit:
    """The spec of a case under another name."""
    *_, given = yaml.safe_load_all(CASES[case].read_text())
    model = KINDS[given["kind"]].model.model_validate({**given, "metadata": {**given["metadata"], "name": name}})
    return lower(model, Context(Platform(), "1")).unit


def _container(job: Manifest) -> Json:
    """The first one of its pod."""
    found: Json = job.body["spec"]["template"]["spec"]["containers"][0]
    return found


def _bodies(unit: Unit) -> list[Json]:
    return [each.body for each in unit.manifests]


def _program() -> Program:
    platform = Platform.model_validate({"extensions": [{"path": "patch.py"}]})
    root = Node({"extensions": []}, Mark(1, 1), Mark(1, 1), {})
    return Program(platform, Document("stowplan.yaml", 0, root), ())
