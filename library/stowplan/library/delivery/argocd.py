"""AppProject and Applications, by which Argo CD 3.2 and later finds and syncs the output."""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy

from stowplan.library.builders.metadata import EARLY_WAVE
from stowplan.library.composition.tree import ChartSource
from stowplan.library.engines.jobset import JOB_SET
from stowplan.library.engines.kinds import JOB
from stowplan.library.engines.registry import ENGINE_KINDS
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import labels
from stowplan.schema.agents.gate_config import ADMISSION_GATE, GATE_ANNOTATION
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.settings import GroupKind

API_VERSION = "argoproj.io/v1alpha1"
IN_CLUSTER = "https://kubernetes.default.svc"

_CASCADE = "resources-finalizer.argocd.argoproj.io"

_DIRECTORY: Json = {"exclude": "{.*,.*/**,**/.*,**/.*/**}", "include": "{*.yaml,**/*.yaml}", "recurse": True}
"""Files of a folder that Argo CD reads: those with the suffix `.yaml`, without hidden ones.

By default Argo CD also reads `.yml`, `.json` and `.jsonnet`, and hidden folders. The globs match the path relative to
the Application's folder, and `*` also matches slashes (Argo CD 3.2, `getPotentiallyValidManifestFile`, `util/glob`).
"""

_RETRY: Json = {"backoff": {"duration": "10s", "factor": 2, "maxDuration": "5m"}, "limit": 10, "refresh": True}
"""How Argo CD tries again when the API server refused an object: for half an hour, each time with the newest commit.

Without `refresh`, a field since Argo CD 3.2, it would try the refused commit for all that time, and a fix would wait.
From Argo CD 3.4 on, it first waits until all objects that it applied in the same wave are healthy (gitops-engine,
`pkg/sync/sync_context.go`, the case `failed` of `Sync`).
"""

_SERVER_SIDE_DIFF = "ServerSideDiff=true"
"""Argo CD compares objects with what the API server would make of them."""
_ALL_FIELDS = f"{_SERVER_SIDE_DIFF},IncludeMutationWebhook=true"
"""The same for fields that no applied object has.

Without it Argo CD takes a field that has left Git, and that has a default, for a change by a webhook: a Job whose
`suspend: true` was removed would stay suspended (gitops-engine `pkg/diff/diff.go` `removeWebhookMutation`, 3.5).
The root Application must not have it: Application has no status subresource, so that each status counts the
generation on, and the root would seem to be out of sync.
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
    GroupKind(group="networking.k8s.io", kind="NetworkPolicy"),
    GroupKind(group="policy", kind="PodDisruptionBudget"),
    GroupKind(group="rbac.authorization.k8s.io", kind="Role"),
    GroupKind(group="rbac.authorization.k8s.io", kind="RoleBinding"),
    *(GroupKind(group=each.group, kind=each.kind) for each in ENGINE_KINDS),
    *(GroupKind(group=kind.group, kind=name) for name, kind in KINDS.items()),
)
"""Every namespaced kind that specs can compile to with any engine.

After a change of the engine, Argo CD must still be allowed to prune the objects of the former one.
"""

_VOLUME = GroupKind(group="", kind="PersistentVolume", clusterScoped=True)
_CRD = GroupKind(group="apiextensions.k8s.io", kind="CustomResourceDefinition", clusterScoped=True)
_NAMESPACE = GroupKind(group="", kind="Namespace", clusterScoped=True)
_ROOT_KINDS = (GroupKind(group="argoproj.io", kind="AppProject"), GroupKind(group="argoproj.io", kind="Application"))


def allowed_kinds(platform: Platform) -> list[GroupKind]:
    """Return all kinds of objects that the output may contain with this platform file, sorted.

    The list does not depend on the specs: Argo CD would leave the objects of a removed kind in the cluster, silently.
    """
    kinds = [*NAMESPACED_KINDS, _VOLUME, *platform.pass_through]
    kinds += [kind for extension in platform.extensions for kind in extension.kinds]
    if platform.argocd.crds == "emit":
        kinds.append(_CRD)
    if platform.namespaces.emit:
        kinds.append(_NAMESPACE)
    unique = {(kind.cluster_scoped, kind.group, kind.kind): kind for kind in kinds}
    return [unique[key] for key in sorted(unique)]


def chart(argocd: ArgoCD, own: Sequence[Manifest], root: Sequence[Manifest]) -> ChartSource:
    """Return the chart of Argo CD's objects: the project and Applications of the output, and those of the root."""
    tags = {**argocd.labels, labels.PART_OF: "stowplan", labels.MANAGED_BY: "stowplan"}
    parts = (Part("applications", tuple(own)), Part("root", tuple(root)))
    return ChartSource("argocd", (), parts, argocd.namespace, tags)


def app_project(platform: Platform) -> Manifest:
    """Return the AppProject of all Applications except the root Application."""
    argocd = platform.argocd
    kinds = allowed_kinds(platform)
    destinations = [{**_cluster(argocd), "namespace": each} for each in sorted(argocd.destination.namespaces)]
    return _project(argocd, argocd.name, "What Stowplan compiles", destinations, kinds)


def root_project(argocd: ArgoCD) -> Manifest:
    """Return the AppProject of the root Application.

    It allows only AppProjects and Applications from one repository, in Argo CD's own namespace.
    In Argo CD's project `default`, everybody with write access to the output could apply any object with all RBAC
    rights. The project is never pruned: if the platform file names another one, Argo CD would remove this one before
    it moves the root Application. The root Application could then not be synced any more.
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
    """Return an AppProject. It has an earlier sync wave than the Applications, which need it for their sync.

    An empty `clusterResourceWhitelist` allows no kind.
    """
    allowed = list(kinds)
    metadata = _metadata(name)
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
    """Return the name of the root Application, and of its project if Stowplan writes the project."""
    return f"{argocd.name}-root"


def application(
    argocd: ArgoCD, part: str, *, folder: str, namespace: str, cascade: bool, ignored: Iterable[Json] = ()
) -> Manifest:
    """Return the Application that syncs one folder of the output. `part` is the end of its name, after `argocd.name`.

    `folder` is relative to the output. `namespace` is that of the destination. `ignored` are the entries of its
    `ignoreDifferences`. With `cascade`, removing the Application removes the objects that it synced, except those with
    the sync option `Delete=false`. `allowEmpty` is off, so an empty folder never removes all objects.
    """
    name = f"{argocd.name}-{part}"
    metadata = _metadata(name)
    metadata["annotations"][labels.COMPARE_OPTIONS] = _ALL_FIELDS
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


def gate_differences() -> Iterator[Json]:
    """Yield the entries of `ignoreDifferences` for what a gate changes in the runs that it opens.

    Only in runs that are compiled closed is `suspend` ignored. A run that its user holds back lacks their annotation,
    so the `suspend` of a spec always counts. Argo CD evaluates the query in the committed object too, so it cannot ask
    for the annotation of opened runs, which is never in Git. Kueue refuses an admission gate that comes back. The
    generation is what would count the ignored change, if the committed object were applied again.
    """
    pointer = f"/metadata/annotations/{ADMISSION_GATE.replace('/', '~1')}"
    for kind in (JOB, JOB_SET):
        yield {
            "group": kind.group,
            "kind": kind.kind,
            "jqPathExpressions": [f'select(.metadata.annotations["{GATE_ANNOTATION}"] != null) | .spec.suspend'],
            "jsonPointers": [pointer, "/metadata/generation"],
        }


def root_application(argocd: ArgoCD, folder: str) -> Manifest:
    """Return the Application that an admin applies once: it syncs the projects and all Applications, including itself.

    `folder`, relative to the output, is that of these objects. They live in Argo CD's own cluster, whatever the
    destination of the other objects. `RespectIgnoreDifferences=true` must not be set here: Argo CD (seen in 3.2) would
    then copy the ignored status of each Application into the applied object. Application has no status subresource, so
    a stale operation came back and stayed open forever.
    """
    destination = {"server": IN_CLUSTER, "namespace": argocd.namespace}
    metadata = _metadata(_root(argocd))
    metadata["annotations"][labels.COMPARE_OPTIONS] = _SERVER_SIDE_DIFF
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
            "retry": deepcopy(_RETRY),
            "syncOptions": sorted(options),
        },
    }
    body = {"apiVersion": API_VERSION, "kind": "Application", "metadata": metadata, "spec": spec}
    return Manifest(body, stem=str(metadata["name"]))


def _metadata(name: str) -> Json:
    return {"name": name, "annotations": {labels.SYNC_OPTIONS: labels.SKIP_DRY_RUN}}


def _cluster(argocd: ArgoCD) -> dict[str, str]:
    destination = argocd.destination
    return {"name": destination.name} if destination.name else {"server": destination.server or IN_CLUSTER}


def _whitelist(kinds: Iterable[GroupKind]) -> list[Json]:
    return [{"group": kind.group, "kind": kind.kind} for kind in kinds]
