"""Manifests are ordered as Argo CD orders them."""

from typing import Any

import pytest

from tests.cluster.client import Manifest, ref
from tests.cluster.sync import ordered


def _object(kind: str, name: str = "a", namespace: str | None = None, **annotations: str) -> Manifest:
    manifest = ref("v1" if kind == "Namespace" else "example.com/v1", kind, name, namespace)
    keys = {f"argocd.argoproj.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    manifest["metadata"]["annotations"] = keys
    return manifest


def _crd(kind: str, **annotations: str) -> Manifest:
    spec = {"group": "example.com", "names": {"kind": kind}}
    return {**_object("CustomResourceDefinition", f"{kind.lower()}s.example.com", **annotations), "spec": spec}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(_object("Widget", hook="PreSync"), _object("Job"), id="phase before kind"),
        pytest.param(_object("Widget", sync_wave="-1"), _object("Job"), id="wave before kind"),
        pytest.param(_object("Job", "b", sync_wave="2"), _object("Job", sync_wave="10"), id="waves are numbers"),
        pytest.param(_object("Service", "b"), _object("Job", "a"), id="kind before name"),
        pytest.param(_object("CronJob", "b"), _object("Alpha", "a"), id="unlisted kinds last"),
        pytest.param(_object("Alpha", "b"), _object("Beta", "a"), id="unlisted kinds by the alphabet"),
        pytest.param(_object("Job", "a"), _object("Job", "b"), id="name"),
        pytest.param(
            _object("Namespace", "n", sync_wave="5"), _object("Job", "a", "n"), id="namespace before its objects"
        ),
        pytest.param(_crd("Widget", sync_wave="5"), _object("Widget"), id="CRD before its kind"),
    ],
)
def test_first_is_applied_before_second(first: Any, second: Any) -> None:
    assert ordered([second, first]) == [first, second]
    assert ordered([first, second]) == [first, second]


def test_namespace_moves_only_to_its_own_first_object() -> None:
    early, late = _object("Job", "early", "other"), _object("Job", "late", "n")
    namespace = _object("Namespace", "n", sync_wave="1")
    assert ordered([namespace, late, early]) == [early, namespace, late]
