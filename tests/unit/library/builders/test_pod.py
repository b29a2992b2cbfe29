"""Pods of the agents."""

from typing import Any

from stowplan.library.builders.pods import agent_pod
from stowplan.library.builders.pods.agent_pod import AgentPod, Mount
from stowplan.library.ir.data import Placement, SecretName
from stowplan.schema.platform.settings import Amounts, Resources
from tests.unit.specs import ORIGIN, site

SMALL = Amounts(cpu="1", memory="1Gi")
DIGEST = f"sha256:{'0' * 64}"


def template(**fields: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "component": "sync",
        "agent": "cache",
        "module": "stowplan.agents.cache",
        "args": ("sync",),
        "config_map": "configuration",
        "service_account": "account",
        "resources": Resources(requests=SMALL, limits=SMALL),
    }
    return agent_pod.template(AgentPod(**{**base, **fields}), ORIGIN, site())


def test_smallest_pod() -> None:
    assert template()["spec"] == {
        "automountServiceAccountToken": True,
        "containers": [
            {
                "name": "sync",
                "image": "registry.example.com/ml/stowplan-cache:9.9",
                "command": ["python", "-m", "stowplan.agents.cache"],
                "args": ["sync"],
                "env": [
                    {"name": "HOME", "value": "/tmp"},
                    {
                        "name": "STOWPLAN_NODE",
                        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
                    },
                    {
                        "name": "STOWPLAN_POD",
                        "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}},
                    },
                ],
                "resources": {
                    "requests": {"cpu": "1", "memory": "1Gi"},
                    "limits": {"cpu": "1", "memory": "1Gi"},
                },
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                },
                "volumeMounts": [
                    {"name": "config", "mountPath": "/etc/stowplan", "readOnly": True},
                    {"name": "scratch", "mountPath": "/tmp"},
                ],
            }
        ],
        "enableServiceLinks": False,
        "restartPolicy": "Never",
        "securityContext": {
            "runAsGroup": 65532,
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "serviceAccountName": "account",
        "terminationGracePeriodSeconds": 30,
        "volumes": [
            {"name": "config", "configMap": {"name": "configuration"}},
            {"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}},
        ],
    }


def test_mounted_dataset_sees_a_mount_that_was_recovered() -> None:
    spec = template(mount=Mount("claim", "/mnt/data"))["spec"]
    assert spec["volumes"][-1] == {"name": "dataset", "persistentVolumeClaim": {"claimName": "claim"}}
    assert spec["containers"][0]["volumeMounts"][-1] == {
        "name": "dataset",
        "mountPath": "/mnt/data",
        "mountPropagation": "HostToContainer",
    }


def test_root_says_so() -> None:
    context = template(user=0)["spec"]["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"], context["runAsNonRoot"]) == (0, 0, False)


def test_placement() -> None:
    toleration = {"operator": "Exists"}
    spec = template(placement=Placement({"required": []}, (toleration,)), pod_affinity={"a": 1})["spec"]
    assert spec["tolerations"] == [toleration]
    assert spec["affinity"] == {"nodeAffinity": {"required": []}, "podAffinity": {"a": 1}}


def test_probes_run_in_the_container() -> None:
    container = template(probes={"livenessProbe": ["true"]})["spec"]["containers"][0]
    assert container["livenessProbe"] == {"exec": {"command": ["true"]}, "periodSeconds": 30, "timeoutSeconds": 10}


def test_secrets_reach_the_environment_by_reference() -> None:
    (required, optional) = agent_pod.secret_env(SecretName("ml", "volume"), {"a": "A", "b": "B"}, optional=["b"])
    assert required == {"name": "A", "valueFrom": {"secretKeyRef": {"name": "volume", "key": "a"}}}
    assert optional == {"name": "B", "valueFrom": {"secretKeyRef": {"name": "volume", "key": "b", "optional": True}}}


def test_image_by_tag_and_by_digest() -> None:
    registry = "registry.example.com/ml"
    assert agent_pod.image(site(), "git") == f"{registry}/stowplan-git:9.9"
    assert agent_pod.image(site(images={"tag": "1"}), "git") == "local/stowplan-git:1"
    digests = {"registry": registry, "tag": "1", "digests": {"git": DIGEST}}
    assert agent_pod.image(site(images=digests), "git") == f"{registry}/stowplan-git@{DIGEST}"
    assert agent_pod.image(site(images=digests), "cache") == f"{registry}/stowplan-cache:1"
