"""Patches of environments: what they do to a spec, and where its values are located afterwards."""

from contextlib import suppress
from typing import Any

import pytest

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.environments import patches
from stowplan.compiler.environments.overlay import merged
from stowplan.compiler.environments.patches import Patch
from stowplan.compiler.yaml import reader
from stowplan.library.values.strategic_merge import PatchError
from stowplan.schema.kinds.native.training import Training
from stowplan.schema.platform.environments import SpecPatch

SPEC = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: mnist, namespace: ml}
spec:
  framework: torch
  image: registry.example.com/ml/mnist:1
  numNodes: 2
  env:
  - {name: LR, value: "1"}
  - {name: SEED, value: "7"}
  args: [a, b]
  template:
    spec:
      containers:
      - {name: trainer, image: x}
      - {name: side, image: y}
"""


def document(text: str, file: str = "specs/mnist.yaml") -> Document:
    documents, problems = reader.read(text, file)
    assert not problems
    return documents[0]


def applied(patch: str) -> tuple[Document, list[str]]:
    """The spec with a patch, and the codes and paths of what is wrong with the patch."""
    platform = document(patch, "stowplan.yaml")
    given = Patch(SpecPatch.model_validate(platform.data), (), platform.root)
    changed, found = patches.apply(document(SPEC), [given], "stowplan.yaml", "default")
    return changed, [f"{each.code} {each.path}" for each in found]


def merge(spec: str) -> tuple[Document, list[str]]:
    return applied(f"target: {{kind: Training}}\nmerge:\n  spec: {spec}\n")


def operate(*operations: str) -> tuple[Document, list[str]]:
    return applied("target: {kind: Training}\njson:\n" + "".join(f"- {each}\n" for each in operations))


def test_a_merge_changes_fields_and_lists_of_kubernetes_types_by_their_names() -> None:
    changed, found = merge("{numNodes: 4, env: [{name: LR, value: '2'}, {name: NEW, value: x}], args: [c]}")
    spec = changed.data["spec"]
    assert not found
    assert spec["numNodes"] == 4
    assert {each["name"]: each["value"] for each in spec["env"]} == {"LR": "2", "SEED": "7", "NEW": "x"}
    assert spec["args"] == ["c"]


def test_containers_of_a_template_are_merged_by_name() -> None:
    changed, _ = merge("{template: {spec: {containers: [{name: side, image: z}]}}}")
    containers = changed.data["spec"]["template"]["spec"]["containers"]
    assert {each["name"]: each["image"] for each in containers} == {"trainer": "x", "side": "z"}


def test_null_removes_a_field() -> None:
    changed, _ = merge("{image: null}")
    assert "image" not in changed.data["spec"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("spec", "numNodes"), "stowplan.yaml:3:20"),
        (("spec", "framework"), "specs/mnist.yaml:5:14"),
        (("spec", "env", 0, "value"), "stowplan.yaml:3:47"),
        (("spec", "env", 1, "value"), "specs/mnist.yaml:10:25"),
        (("spec", "image"), "stowplan.yaml:3:3"),
        (("metadata", "name"), "specs/mnist.yaml:3:18"),
    ],
)
def test_a_value_is_located_where_it_was_written(path: tuple[str | int, ...], place: str) -> None:
    changed, _ = merge("{numNodes: 4, env: [{name: LR, value: '2'}], image: null}")
    assert str(changed.locate(path)) == place


def test_operations_of_a_json_patch_are_applied_in_their_order() -> None:
    changed, found = operate(
        "{op: test, path: /spec/numNodes, value: 2}",
        "{op: replace, path: /spec/numNodes, value: 3}",
        "{op: add, path: /spec/env/0, value: {name: FIRST, value: x}}",
        "{op: remove, path: /spec/args/1}",
        "{op: copy, from: /metadata/name, path: /metadata/labels}",
    )
    assert not found
    assert changed.data["spec"]["numNodes"] == 3
    assert [each["name"] for each in changed.data["spec"]["env"]] == ["FIRST", "LR", "SEED"]
    assert changed.data["spec"]["args"] == ["a"]
    assert str(changed.locate(("spec", "env", 0, "value"))) == "stowplan.yaml:5:60"
    assert str(changed.locate(("spec", "env", 1, "value"))) == "specs/mnist.yaml:9:23"
    assert str(changed.locate(("spec", "numNodes"))) == "stowplan.yaml:4:46"


@pytest.mark.parametrize(
    "operation",
    [
        "{op: replace, path: /spec/nodes, value: 1}",
        "{op: remove, path: /spec/args/9}",
        "{op: test, path: /spec/numNodes, value: 1}",
        "{op: add, path: /spec/numNodes/x, value: 1}",
        "{op: add, path: no-pointer, value: 1}",
        "{op: move, from: /spec/nodes, path: /spec/numNodes}",
    ],
)
def test_an_operation_that_is_not_possible_changes_nothing(operation: str) -> None:
    changed, found = operate("{op: add, path: /spec/numNodes, value: 9}", operation)
    assert found == ["SP806 ('json', 1)"]
    assert changed.data["spec"]["numNodes"] == 2


@pytest.mark.parametrize(
    "value",
    [
        "{env: [{value: x}]}",
        "{env: [x]}",
        "{template: {spec: {containers: [3]}}}",
        "{template: {$patch: remove}}",
        "{template: {$retainKeys: 3}}",
        "{template: {spec: {$deleteFromPrimitiveList/args: 3}}}",
    ],
)
def test_a_merge_that_kubernetes_refuses_is_reported_at_its_place(value: str) -> None:
    _, found = merge(value)
    assert len(found) == 1
    assert found[0].startswith("SP806 ('merge', 'spec', ")


@pytest.mark.parametrize("field", ["{name: other}", "{namespace: other}", "{namespace: null}"])
def test_a_patch_may_not_change_what_names_the_spec(field: str) -> None:
    changed, found = applied(f"target: {{kind: Training}}\nmerge: {{metadata: {field}}}\n")
    assert found == ["SP807 ()"]
    assert changed.data["metadata"] == {"name": "mnist", "namespace": "ml"}


@pytest.mark.parametrize("target", ["{kind: PaddleJob}", "{kind: Training, name: x}", "{kind: Training, namespace: x}"])
def test_other_specs_stay_as_they_are(target: str) -> None:
    changed, _ = applied(f"target: {target}\nmerge: {{spec: {{numNodes: 1}}}}\n")
    assert changed.data == document(SPEC).data


@pytest.mark.parametrize("base", [{"env": ["x", ["y"], {"name": ["z"]}]}, {"env": 3}, {"env": {"name": "LR"}}])
def test_a_malformed_spec_is_merged_or_refused(base: dict[str, Any]) -> None:
    with suppress(PatchError):
        assert merged({"spec": base}, {"spec": {"env": [{"name": "LR", "value": "1"}]}}, Training)["spec"]["env"]
