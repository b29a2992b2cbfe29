"""The custom resource among the objects: the user's values plus labels and annotations."""

from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.ir.data import Origin
from tests.unit.specs import ORIGIN, sample_set


def test_given_values_are_unchanged() -> None:
    made = custom_resource(sample_set(cache={"levels": [{"path": "/a"}]}), ORIGIN).body
    assert made["spec"] == {
        "partitions": 1,
        "secretRef": {"name": "volume"},
        "noSync": True,
        "cache": {"levels": [{"path": "/a"}]},
    }


def test_names_are_those_of_the_crd() -> None:
    made = custom_resource(sample_set(csi={"juiceFSMountOptions": {"attr-cache": 1, "sub-dir": "a"}}), ORIGIN).body
    assert made["spec"]["csi"] == {"juiceFSMountOptions": {"attr-cache": 1, "sub-dir": "a"}}


def test_dry_run_is_skipped_while_the_crd_is_missing() -> None:
    annotations = custom_resource(sample_set(), ORIGIN).body["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/sync-options"] == "SkipDryRunOnMissingResource=true"
    assert annotations["stowplan.dev/source"] == "specs/data.yaml"


def test_sync_options_of_the_user_are_kept() -> None:
    options = {"argocd.argoproj.io/sync-options": "Prune=false"}
    annotations = custom_resource(sample_set(annotations=options), Origin(ORIGIN.spec)).body["metadata"]["annotations"]
    assert annotations == {"argocd.argoproj.io/sync-options": "Prune=false,SkipDryRunOnMissingResource=true"}
