"""AppProject and Applications: how Argo CD 3.1 and later finds and syncs the output."""

from collections.abc import Iterable

from stowplan.library.builders.metadata import EARLY_WAVE
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.platform.platform import ArgoCD, GroupKind, Platform

API_VERSION = "argoproj.io/v1alpha1"
IN_CLUSTER = "https://kubernetes.default.svc"

_CASCADE = "resources-finalizer.argocd.argoproj.io"

_DIRECTORY: Json = {"exclude": "{.*,.*/**,**/.*,**/.*/**}", "include": "{*.yaml,**/*.yaml}", "recurse": True}
"""The files of a folder that Argo CD reads: those that end in `.yaml`, and nothing hidden.

Without it Argo CD reads `.yml`, `.json` and `.jsonnet` too, in hidden folders as well. The globs match the path from
the Application's folder, and `*` matches slashes too (Argo CD 3.2, `getPotentiallyValidManifestFile`, `util/glob`).
"""

_SYNC_OPTIONS = ("ApplyOutOfSyncOnly=true", "FailOnSharedResource=true", "ServerSideApply=true")

NAMESPACED_KINDS = (
    GroupKind(group="", kind="ConfigMap"),
    GroupKind(group="", kind="PersistentVolumeClaim"),
    GroupKind(group="", kind="Service"),
    GroupKind(group="", kind="ServiceAccount"),
    GroupKind(group="apps", kind="Deployment"),
    GroupKind(group="apps", kind="StatefulSet"),
    GroupKind(group="batch", kind="CronJob"),
    GroupKind(group="batch", kind="Job"),
    GroupKind(group="jobset.x-k8s.io", kind="JobSet"),
    GroupKind(group="networking.k8s.io", kind="NetworkPolicy"),
    GroupKind(group="policy", kind="PodDisruptionBudget"),
    GroupKind(group="rbac.authorization.k8s.io", kind="Role"),
    GroupKind(group="rbac.authorization.k8s.io", kind="RoleBinding"),
    GroupKind(group="scheduling.volcano.sh", kind="PodGroup"),
    GroupKind(group="scheduling.x-k8s.io", kind="PodGroup"),
    *(GroupKind(group=model.group(), kind=name) for name, model in KINDS.items()),
)
"""Every namespaced kind that specs can compile to on any engine, whether or not the present ones do: a platform that
changes its engine leaves objects of the old one to prune."""

_VOLUME = GroupKind(group="", kind="PersistentVolume", clusterScoped=True)
_CRD = GroupKind(group="apiextensions.k8s.io", kind="CustomResourceDefinition", clusterScoped=True)
_NAMESPACE = GroupKind(group="", kind="Namespace", clusterScoped=True)
_ROOT_KINDS = (GroupKind(group="argoproj.io", kind="AppProject"), GroupKind(group="argoproj.io", kind="Application"))


def allowed_kinds(platform: Platform) -> list[GroupKind]:
    """The closed list of kinds that this platform file lets the compiler write, sorted.

    It does not depend on the specs: Argo CD would silently orphan the objects of a kind that leaves the list.
    """
    kinds = [*NAMESPACED_KINDS, _VOLUME, *platform.pass_through]
    kinds += [kind for extension in platform.extensions for kind in extension.kinds]
    if platform.argocd.crds == "emit":
        kinds.append(_CRD)
    if platform.namespaces.emit:
        kinds.append(_NAMESPACE)
    unique = {(kind.cluster_scoped, kind.group, kind.kind): kind for kind in kinds}
    return [unique[key] for key in sorted(unique)]


def app_project(platform: Platform) -> Manifest:
    """The project that all Applications but the root belong to."""
    argocd = platform.argocd
    kinds = allowed_kinds(platform)
    destinations = [{**_cluster(argocd), "namespace": each} for each in sorted(argocd.destination.namespaces)]
    return _project(argocd, argocd.name, "What Stowplan compiles", destinations, kinds)


def root_project(argocd: ArgoCD) -> Manifest:
    """The project of the root Application: from the one repository, AppProjects and Applications beside Argo CD.

    In Argo CD's project `default`, whoever can write to the output could have anything applied with all rights. The
    project is never pruned: when the platform file names another one, Argo CD would remove this one before it moves the
    root Application, which could not be synced any more.
    """
    destinations = [{"server": IN_CLUSTER, "namespace": argocd.namespace}]
    made = _project(argocd, _root(argocd), "Applications of Stowplan", destinations, _ROOT_KINDS)
    annotations = made.body["metadata"]["annotations"]
    annotations[labels.COMPARE_OPTIONS] = labels.IGNORE_EXTRANEOUS
    annotations[labels.SYNC_OPTIONS] = f"Prune=false,{annotations[labels.SYNC_OPTIONS]}"
    return made


def _project(
    argocd: ArgoCD, name: str, description: str, destinations: list[dict[str, str]], kinds: Iterable[GroupKind]
) -> Manifest:
    """An AppProject. It is synced before the Applications, which cannot be synced without their project.

    An empty `clusterResourceWhitelist` allows no kind.
    """
    allowed = list(kinds)
    metadata = _metadata(argocd, name)
    metadata["annotations"][labels.SYNC_WAVE] = EARLY_WAVE
    spec: Json = {
        "clusterResourceWhitelist": _whitelist(kind for kind in allowed if kind.cluster_scoped),
        "description": description,
        "destinations": destinations,
        "namespaceResourceWhitelist": _whitelist(kind for kind in allowed if not kind.cluster_scoped),
        "sourceRepos": [argocd.repo_url],
    }
    return Manifest({"apiVersion": API_VERSION, "kind": "AppProject", "metadata": metadata, "spec": spec}, stem=name)


def _root(argocd: ArgoCD) -> str:
    """Name of the root Application, and of its project where Stowplan writes that."""
    return f"{argocd.name}-root"


def application(
    argocd: ArgoCD, part: str, *, folder: str, namespace: str, cascade: bool, ignored: Iterable[Json] = ()
) -> Manifest:
    """The Application that syncs one folder of the output. `ignored` are its `ignoreDifferences`.

    With `cascade`, removing the Application removes what it synced, save what is protected. Nothing is emptied by
    accident: `allowEmpty` stays off.
    """
    name = f"{argocd.name}-{part}"
    metadata = _metadata(argocd, name)
    if cascade:
        metadata["finalizers"] = [_CASCADE]
    destination = {**_cluster(argocd), "namespace": namespace}
    options = [*_SYNC_OPTIONS, "RespectIgnoreDifferences=true"]
    manifest = _application(
        argocd, metadata, project=argocd.name, folder=folder, destination=destination, options=options
    )
    if entries := list(ignored):
        manifest.body["spec"]["ignoreDifferences"] = entries
    return manifest


def root_application(argocd: ArgoCD, folder: str) -> Manifest:
    """The Application that an admin applies once: it syncs the projects and all Applications, itself included.

    They live in the cluster that Argo CD runs in, wherever the objects go. `RespectIgnoreDifferences=true` must not
    stand here: with it Argo CD (seen in 3.2) copies what it does not compare, the status of each Application, into
    what it applies. Application has no status subresource, so a stale operation came back and stayed open for good.
    """
    destination = {"server": IN_CLUSTER, "namespace": argocd.namespace}
    metadata = _metadata(argocd, _root(argocd))
    return _application(
        argocd,
        metadata,
        project=argocd.root_project or _root(argocd),
        folder=folder,
        destination=destination,
        options=_SYNC_OPTIONS,
    )


def _application(
    argocd: ArgoCD,
    metadata: Json,
    *,
    project: str,
    folder: str,
    destination: dict[str, str],
    options: Iterable[str],
) -> Manifest:
    metadata["annotations"][labels.COMPARE_OPTIONS] = "ServerSideDiff=true"
    spec: Json = {
        "destination": destination,
        "project": project,
        "source": {
            "directory": dict(_DIRECTORY),
            "path": "/".join(part for part in (argocd.path.strip("/"), folder) if part and part != "."),
            "repoURL": argocd.repo_url,
            "targetRevision": argocd.target_revision,
        },
        "syncPolicy": {
            "automated": {"prune": True, "selfHeal": True},
            "retry": {"backoff": {"duration": "10s", "factor": 2, "maxDuration": "5m"}, "limit": 10},
            "syncOptions": sorted(options),
        },
    }
    body = {"apiVersion": API_VERSION, "kind": "Application", "metadata": metadata, "spec": spec}
    return Manifest(body, stem=str(metadata["name"]))


def _metadata(argocd: ArgoCD, name: str) -> Json:
    return {
        "name": name,
        "namespace": argocd.namespace,
        "labels": {labels.PART_OF: "stowplan", labels.MANAGED_BY: "stowplan"},
        "annotations": {labels.SYNC_OPTIONS: "SkipDryRunOnMissingResource=true"},
    }


def _cluster(argocd: ArgoCD) -> dict[str, str]:
    destination = argocd.destination
    return {"name": destination.name} if destination.name else {"server": destination.server or IN_CLUSTER}


def _whitelist(kinds: Iterable[GroupKind]) -> list[Json]:
    return [{"group": kind.group, "kind": kind.kind} for kind in kinds]
