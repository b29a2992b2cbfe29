"""Strategic merge of pod templates: what a patch adds, changes, removes, and where it is refused.

`tests/cluster/test_strategic_merge.py` compares the same patches with what an API server makes of them.
"""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from stowplan.compiler.generate import merge_keys
from stowplan.library.values import strategic_merge
from stowplan.library.values.strategic_merge import PatchError, merge

TEMPLATE = "io.k8s.api.core.v1.PodTemplateSpec"

BASE: dict[str, Any] = {
    "metadata": {"labels": {"app": "llm", "tier": "gpu"}, "finalizers": ["a.example.com/x", "b.example.com/y"]},
    "spec": {
        "restartPolicy": "Never",
        "nodeSelector": {"zone": "a"},
        "initContainers": [{"name": "fetch", "image": "fetch:1"}, {"name": "wait", "image": "wait:1"}],
        "containers": [
            {
                "name": "trainer",
                "image": "train:1",
                "command": ["python", "train.py"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}],
                "ports": [{"containerPort": 29500, "name": "master"}],
                "resources": {"limits": {"cpu": "2", "memory": "4Gi"}},
                "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}],
                "securityContext": {"capabilities": {"drop": ["ALL"]}},
            },
            {"name": "sidecar", "image": "side:1"},
        ],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "shm", "emptyDir": {}}],
    },
}


def trainer(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "trainer", **fields}]}}


PATCHES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a label more, and another value": {"metadata": {"labels": {"tier": "cpu", "team": "nlp"}}},
    "null removes": {"metadata": {"labels": {"tier": None, "absent": None}}, "spec": {"nodeSelector": None}},
    "null removes an item's field": trainer(command=None),
    "a scalar": {"spec": {"restartPolicy": "OnFailure", "priorityClassName": "high"}},
    "a list without a key is replaced": {"spec": {"tolerations": [{"key": "tpu", "operator": "Exists"}]}},
    "a command is replaced": trainer(command=["torchrun"]),
    "capabilities are replaced": trainer(securityContext={"capabilities": {"drop": ["NET_RAW"], "add": ["IPC_LOCK"]}}),
    "a new container comes first": {"spec": {"containers": [{"name": "proxy", "image": "proxy:1"}]}},
    "a new container behind ours": {
        "spec": {"containers": [{"name": "trainer"}, {"name": "proxy", "image": "proxy:1"}]}
    },
    "containers in another order": {
        "spec": {"containers": [{"name": "sidecar"}, {"name": "trainer", "image": "train:2"}]}
    },
    "a new init container": {"spec": {"initContainers": [{"name": "mine", "image": "mine:1"}]}},
    "an init container between ours": {
        "spec": {"initContainers": [{"name": "fetch"}, {"name": "mine", "image": "mine:1"}]}
    },
    "an init container after ours": {
        "spec": {"initContainers": [{"name": "wait"}, {"name": "mine", "image": "mine:1"}]}
    },
    "variables": trainer(env=[{"name": "D", "value": "4"}, {"name": "B", "value": "5"}]),
    "a variable of another kind": trainer(
        env=[{"name": "B", "value": None, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    ),
    "a variable twice": trainer(env=[{"name": "D", "value": "4"}, {"name": "D", "value": "5"}]),
    "a port": trainer(ports=[{"containerPort": 8080, "name": "web"}, {"containerPort": 29500, "protocol": "UDP"}]),
    "a limit": trainer(resources={"limits": {"memory": "8Gi", "nvidia.com/gpu": "1"}}),
    "a mount by its path": trainer(volumeMounts=[{"mountPath": "/data", "name": "shm"}]),
    "a mount more": trainer(volumeMounts=[{"mountPath": "/dev/shm", "name": "shm"}]),
    "a volume more": {"spec": {"volumes": [{"name": "scratch", "emptyDir": {"medium": "Memory"}}]}},
    "a volume's field": {"spec": {"volumes": [{"name": "data", "emptyDir": {"medium": "Memory"}}]}},
    "another source of a volume": {
        "spec": {"volumes": [{"name": "data", "emptyDir": None, "persistentVolumeClaim": {"claimName": "c"}}]}
    },
    "another source by $retainKeys": {
        "spec": {
            "volumes": [
                {"name": "data", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/d", "type": "Directory"}}
            ]
        }
    },
    "a container less": {"spec": {"containers": [{"name": "sidecar", "$patch": "delete"}]}},
    "a container less, one more": {
        "spec": {"containers": [{"name": "sidecar", "$patch": "delete"}, {"name": "proxy", "image": "proxy:1"}]}
    },
    "a container deleted and written again": {
        "spec": {"containers": [{"name": "sidecar", "image": "side:2"}, {"name": "sidecar", "$patch": "delete"}]}
    },
    "an absent container less": {"spec": {"containers": [{"name": "absent", "$patch": "delete"}]}},
    "variables replaced": trainer(env=[{"name": "Z", "value": "1"}, {"$patch": "replace"}]),
    "a mapping replaced": {"metadata": {"labels": {"$patch": "replace", "app": "llm"}}},
    "a mapping emptied": {"spec": {"nodeSelector": {"$patch": "delete"}}},
    "a new mapping": {"spec": {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}}}},
    "a new mapping with nulls": {"spec": {"securityContext": {"runAsUser": 1, "runAsGroup": None}}},
    "a finalizer more": {"metadata": {"finalizers": ["c.example.com/z", "b.example.com/y"]}},
    "a finalizer less": {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.example.com/x"]}},
    "spread, by the key of the topology": {
        "spec": {
            "topologySpreadConstraints": [
                {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
                {"topologyKey": "rack", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
            ]
        }
    },
}
"""Patches of `BASE`, by what they do; an API server takes them all."""


REFUSED: list[tuple[dict[str, Any], tuple[str | int, ...], str]] = [
    ({"spec": {"containers": [{"image": "a"}]}}, ("spec", "containers", 0), "no `name`"),
    (trainer(env=[{"value": "a"}]), ("spec", "containers", 0, "env", 0), "no `name`"),
    ({"spec": {"volumes": [{"$patch": "delete"}]}}, ("spec", "volumes", 0), "no `name`"),
    ({"spec": {"$patch": "remove"}}, ("spec", "$patch"), '"remove" is not one of'),
    ({"spec": {"$remove": ["a"]}}, ("spec", "$remove"), '"$remove" is not a directive'),
]
"""Patches that an API server refuses, with the place and the message of our refusal."""


def container(template: dict[str, Any], name: str = "trainer") -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [found for found in template["spec"]["containers"] if found["name"] == name]
    return found


def merged(name: str) -> dict[str, Any]:
    return merge(BASE, PATCHES[name], TEMPLATE)


@pytest.mark.parametrize("patch", PATCHES.values(), ids=PATCHES)
def test_neither_argument_changes_and_no_directive_or_null_is_left(patch: dict[str, Any]) -> None:
    base, copy = deepcopy(BASE), deepcopy(patch)
    text = repr(merge(base, patch, TEMPLATE))
    assert (base, patch) == (BASE, copy)
    assert "$" not in text
    assert "None" not in text


def test_mappings_are_merged_field_by_field() -> None:
    labels = merged("a label more, and another value")["metadata"]["labels"]
    assert labels == {"app": "llm", "tier": "cpu", "team": "nlp"}
    assert container(merged("a limit"))["resources"]["limits"] == {"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "1"}


def test_null_removes() -> None:
    result = merged("null removes")
    assert result["metadata"]["labels"] == {"app": "llm"}
    assert "nodeSelector" not in result["spec"]
    assert "command" not in container(merged("null removes an item's field"))


def test_a_list_without_a_key_is_replaced() -> None:
    assert merged("a list without a key is replaced")["spec"]["tolerations"] == [{"key": "tpu", "operator": "Exists"}]
    assert container(merged("a command is replaced"))["command"] == ["torchrun"]


def test_items_are_merged_by_their_key() -> None:
    assert container(merged("a mount by its path"))["volumeMounts"] == [
        {"name": "shm", "mountPath": "/data", "readOnly": True}
    ]
    assert merged("a volume's field")["spec"]["volumes"][0] == {
        "name": "data",
        "emptyDir": {"sizeLimit": "1Gi", "medium": "Memory"},
    }


def names(items: list[dict[str, Any]]) -> list[str]:
    return [item["name"] for item in items]


def test_new_items_come_first_unless_the_patch_names_those_before_them() -> None:
    def inits(name: str) -> list[str]:
        return names(merged(name)["spec"]["initContainers"])

    assert inits("a new init container") == ["mine", "fetch", "wait"]
    assert inits("an init container between ours") == ["fetch", "mine", "wait"]
    assert inits("an init container after ours") == ["fetch", "wait", "mine"]
    assert names(container(merged("variables"))["env"]) == ["D", "A", "B", "C"]


def test_items_are_deleted_or_all_replaced() -> None:
    assert names(merged("a container less, one more")["spec"]["containers"]) == ["proxy", "trainer"]
    assert container(merged("a container deleted and written again"), "sidecar") == {
        "name": "sidecar",
        "image": "side:2",
    }
    assert container(merged("variables replaced"))["env"] == [{"name": "Z", "value": "1"}]


def test_mappings_are_replaced_emptied_or_reduced() -> None:
    assert merged("a mapping replaced")["metadata"]["labels"] == {"app": "llm"}
    assert merged("a mapping emptied")["spec"]["nodeSelector"] == {}
    assert merged("another source by $retainKeys")["spec"]["volumes"][0] == {
        "name": "data",
        "hostPath": {"path": "/d", "type": "Directory"},
    }


def test_scalars_of_a_merged_list_are_added_or_removed() -> None:
    assert merged("a finalizer more")["metadata"]["finalizers"] == [
        "c.example.com/z",
        "a.example.com/x",
        "b.example.com/y",
    ]
    assert merged("a finalizer less")["metadata"]["finalizers"] == ["b.example.com/y"]


def test_merge_as_a_directive_says_what_is_done_anyway() -> None:
    explicit = trainer(**{"$patch": "merge"}, image="train:2")
    assert merge(BASE, explicit, TEMPLATE) == merge(BASE, trainer(image="train:2"), TEMPLATE)


def test_the_order_that_kubectl_asks_for_is_ignored() -> None:
    assert merge(BASE, {"spec": {"$setElementOrder/containers": [{"name": "sidecar"}]}}, TEMPLATE) == BASE


@pytest.mark.parametrize(("patch", "path", "message"), REFUSED)
def test_a_patch_that_kubernetes_refuses_is_refused_at_its_place(
    patch: dict[str, Any], path: tuple[str | int, ...], message: str
) -> None:
    with pytest.raises(PatchError, match=message.replace("$", r"\$")) as refusal:
        merge(BASE, patch, TEMPLATE)
    assert refusal.value.path == path


def test_a_type_outside_of_pod_templates_is_a_bug() -> None:
    with pytest.raises(KeyError):
        merge({}, {}, "io.k8s.api.core.v1.Node")


def test_the_shipped_keys_are_those_of_kubernetes() -> None:
    folder = Path(strategic_merge.__file__).with_name("generated")
    assert {path.name: path.read_text() for path in folder.iterdir()} == merge_keys.files()
