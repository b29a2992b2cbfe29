"""The reading of managedFields finds missing and shared fields."""

from typing import Any

from tests.cluster.client import ARGO_CD, Manifest, ref
from tests.cluster.ownership import shared, unowned

_PORT = 'k:{"port":80,"protocol":"TCP"}'
_OWN: dict[str, Any] = {"f:spec": {"f:ports": {_PORT: {".": {}, "f:port": {}}}, "f:selector": {}}}
_SENT: Manifest = {**ref("v1", "Service", "a", "n"), "spec": {"ports": [{"port": 80}], "selector": {"app": "a"}}}


def _live(other: dict[str, Any]) -> Manifest:
    own = {"manager": ARGO_CD, "operation": "Apply", "fieldsV1": _OWN}
    return {"metadata": {"managedFields": [own, {"manager": "other", "operation": "Update", "fieldsV1": other}]}}


def test_fields_below_owned_ones_are_owned() -> None:
    assert unowned(_SENT, _live({}), ARGO_CD) == []


def test_field_that_the_server_gave_to_nobody_is_reported() -> None:
    sent = {**_SENT, "spec": {**_SENT["spec"], "type": "ClusterIP"}}
    assert unowned(sent, _live({}), ARGO_CD) == [("f:spec", "f:type")]


def test_other_manager_of_the_same_field_is_reported() -> None:
    assert shared(_live({"f:spec": {"f:selector": {}, "f:type": {}}}), ARGO_CD) == {"other": [("f:spec", "f:selector")]}
