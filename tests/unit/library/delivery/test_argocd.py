"""Objects for Argo CD: a project with a closed list of kinds, and Applications that block no sync."""

from typing import Any

import pytest

from stowplan.library.composition.tree import completed
from stowplan.library.delivery import argocd
from stowplan.library.values import labels
from stowplan.schema.platform.settings import GroupKind
from tests.unit.specs import platform

REPO = "https://git.example.com/ml/data.git"


def settings(**fields: Any) -> Any:
    return platform(argocd={"repoURL": REPO, **fields}).argocd


def kinds(**fields: Any) -> set[str]:
    return {kind.kind for kind in argocd.allowed_kinds(platform(**fields))}


def test_application_of_a_namespace() -> None:
    made = argocd.application(settings(), "ns-ml", folder="ml", namespace="ml", cascade=True)
    assert made.body == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {
            "name": "stowplan-ns-ml",
            "annotations": {
                "argocd.argoproj.io/compare-options": "ServerSideDiff=true,IncludeMutationWebhook=true",
                "argocd.argoproj.io/sync-options": "SkipDryRunOnMissingResource=true",
            },
            "finalizers": ["resources-finalizer.argocd.argoproj.io"],
        },
        "spec": {
            "destination": {"server": "https://kubernetes.default.svc", "namespace": "ml"},
            "project": "stowplan",
            "source": {
                "directory": {
                    "exclude": "{.*,.*/**,**/.*,**/.*/**}",
                    "include": "{*.yaml,**/*.yaml}",
                    "recurse": True,
                },
                "path": "out/ml",
                "repoURL": REPO,
                "targetRevision": "HEAD",
            },
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "retry": {
                    "backoff": {"duration": "10s", "factor": 2, "maxDuration": "5m"},
                    "limit": 10,
                    "refresh": True,
                },
                "syncOptions": [
                    "ApplyOutOfSyncOnly=true",
                    "FailOnSharedResource=true",
                    "RespectIgnoreDifferences=true",
                    "ServerSideApply=true",
                ],
            },
        },
    }


def test_application_that_must_not_take_its_objects_with_it() -> None:
    made = argocd.application(settings(), "crds", folder="crds", namespace="ml", cascade=False)
    assert "finalizers" not in made.body["metadata"]


@pytest.mark.parametrize(
    ("path", "folder"), [("out", "out/ml"), ("/a/b/", "a/b/ml"), (".", "ml"), ("", "ml"), ("./", "ml")]
)
def test_path_in_the_repository(path: str, folder: str) -> None:
    made = argocd.application(settings(path=path), "ns-ml", folder="ml", namespace="ml", cascade=True)
    assert made.body["spec"]["source"]["path"] == folder


def test_root_application_is_where_argocd_is() -> None:
    fields = settings(namespace="argo", rootProject="platform", destination={"name": "blue"})
    (made,) = (
        each.body for each in completed(argocd.chart(fields, [], [argocd.root_application(fields, "argocd")])).manifests
    )
    assert made["metadata"]["namespace"] == "argo"
    assert made["metadata"]["labels"] == {labels.PART_OF: "stowplan", labels.MANAGED_BY: "stowplan"}
    assert made["spec"]["project"] == "platform"
    assert made["spec"]["destination"] == {"server": "https://kubernetes.default.svc", "namespace": "argo"}
    assert "RespectIgnoreDifferences=true" not in made["spec"]["syncPolicy"]["syncOptions"]
    assert made["spec"]["source"]["directory"]["include"] == "{*.yaml,**/*.yaml}"


def test_root_application_has_its_own_project() -> None:
    """It is never `default`, in which everything is allowed."""
    fields = settings(name="data", namespace="argo", destination={"name": "blue", "namespaces": ["ml"]})
    assert argocd.root_application(fields, "argocd").body["spec"]["project"] == "data-root"
    made = argocd.root_project(fields).body
    assert (made["kind"], made["metadata"]["name"]) == ("AppProject", "data-root")
    assert made["spec"] == {
        "clusterResourceWhitelist": [],
        "description": "Applications of Stowplan",
        "destinations": [{"server": "https://kubernetes.default.svc", "namespace": "argo"}],
        "namespaceResourceWhitelist": [
            {"group": "argoproj.io", "kind": "AppProject"},
            {"group": "argoproj.io", "kind": "Application"},
        ],
        "sourceRepos": [REPO],
    }


def test_project_of_the_root_application_is_never_pruned() -> None:
    """Argo CD prunes before it applies: the root Application would lose its project before it can change to another."""
    annotations = argocd.root_project(settings()).body["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/sync-options"] == "Prune=false,SkipDryRunOnMissingResource=true"
    assert annotations["argocd.argoproj.io/compare-options"] == "IgnoreExtraneous"


def test_the_root_application_looks_at_what_is_in_git_alone() -> None:
    """Argo CD counts the generation of an Application on by each status, so the root would never be in sync."""
    annotations = argocd.root_application(settings(), "argocd").body["metadata"]["annotations"]
    assert annotations["argocd.argoproj.io/compare-options"] == "ServerSideDiff=true"


def test_projects_are_synced_before_the_applications_that_name_them() -> None:
    """For example when an upgrade moves the root Application from another project to its own."""
    made = platform(argocd={"repoURL": REPO})
    projects = [argocd.app_project(made), argocd.root_project(made.argocd)]
    assert all(project.wave < argocd.root_application(made.argocd, "argocd").wave for project in projects)


def test_project() -> None:
    fields = {"repoURL": REPO, "destination": {"name": "blue", "namespaces": ["team-*", "ml"]}}
    spec = argocd.app_project(platform(argocd=fields)).body["spec"]
    assert spec["sourceRepos"] == [REPO]
    assert spec["destinations"] == [{"name": "blue", "namespace": "ml"}, {"name": "blue", "namespace": "team-*"}]
    assert spec["clusterResourceWhitelist"] == [
        {"group": "", "kind": "PersistentVolume"},
        {"group": "apiextensions.k8s.io", "kind": "CustomResourceDefinition"},
    ]
    assert {"group": "batch", "kind": "CronJob"} in spec["namespaceResourceWhitelist"]


def test_secrets_are_never_allowed() -> None:
    assert "Secret" not in kinds()


def test_platform_decides_which_kinds_are_allowed() -> None:
    assert kinds(namespaces={"emit": True}) - kinds() == {"Namespace"}
    assert kinds() - kinds(argocd={"crds": "external"}) == {"CustomResourceDefinition"}
    assert kinds(passThrough=[{"kind": "ResourceQuota"}]) - kinds() == {"ResourceQuota"}
    extension = {"path": "a.py", "kinds": [{"group": "example.com", "kind": "Thing"}]}
    assert kinds(extensions=[extension]) - kinds() == {"Thing"}


def test_a_kind_that_is_allowed_twice_is_listed_once() -> None:
    allowed = argocd.allowed_kinds(platform(passThrough=[{"kind": "ConfigMap"}]))
    assert allowed.count(GroupKind(group="", kind="ConfigMap")) == 1
