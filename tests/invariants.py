"""Rules for every manifest of every example and case. Each yields what breaks it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import yaml

from stowplan.compiler.committed.acceptance import refusal
from stowplan.compiler.committed.vouching import RUN_KINDS, Base, Voucher
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.render import entry_of, render
from stowplan.library.delivery.reporter import NAME as REPORTER
from stowplan.library.manifest import Manifest
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV
from stowplan.schema.kinds.table import TRAINING_KINDS
from tests.repositories import Result
from tests.test_engine_kinds import misfits

USERS_PROJECTS = {"kitchen-sink": "kitchen-applications", "platform-argocd": "platform"}
"""The projects of root Applications that Stowplan does not write, by example or case."""

NAME_LIMITS = {"Service": 63, "PersistentVolume": 63, "Job": 63, "CronJob": 52, "StatefulSet": 52, "Namespace": 63}
"""Kubernetes 1.34 allows 253 for the others; 63 for a volume is ours, since its name is a handle too."""

LITERAL_ENVIRONMENT = {"HOME", "S3_ENDPOINT", "S3_REGION"}
SECRET_OPTIONS = {"TOKEN", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "S3_SESSION_TOKEN", *SOURCE_SECRET_ENV.values()}
"""Options of DataCubes, as variables, that no pod has in the open; the others are the users' own words."""
UNPRIVILEGED_VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
BESIDE_USERS = ("await", "fetch-code", "hold-lineage", "wait-dataset", "wait-peers", "wait-run")
"""Containers of agents in pods whose security context may be the user's."""
ROOT_TASKS = "platform-root-tasks"
SHELL_SYNTAX = set(";&|<>$`'\"(){}!*?[]~#\\ \t\n")
EARLY = {
    "AppProject",
    "Namespace",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "NetworkPolicy",
    "ConfigMap",
    "Service",
}
"""Kinds without a health in Argo CD."""
READ = {"exclude": "{.*,.*/**,**/.*,**/.*/**}", "include": "{*.yaml,**/*.yaml}", "recurse": True}
"""What an Application reads of its folder."""

Body = dict[str, Any]


@dataclass(frozen=True)
class Pod:
    """A pod spec in an object of the output."""

    output: OutputFile
    spec: Body

    @property
    def of_user(self) -> bool:
        return self.output.spec is not None and self.output.spec.kind in TRAINING_KINDS

    @property
    def containers(self) -> list[Body]:
        return [*self.spec.get("initContainers", ()), *self.spec["containers"]]


@dataclass(frozen=True)
class Repository:
    """What an example or a case compiles to."""

    name: str
    result: Result
    pods: list[Pod] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)

    def of_kind(self, kind: str) -> list[Body]:
        return [each.manifest.body for each in self.result.outputs if each.manifest.kind == kind]

    @property
    def agents(self) -> Iterator[Body]:
        """The containers of our agents, in whichever pod."""
        every = (each for pod in self.pods if pod.output.manifest.kind not in TRAINING_KINDS for each in pod.containers)
        return (each for each in every if "/stowplan-" in each["image"])

    @property
    def synced(self) -> list[OutputFile]:
        """What Argo CD reads as manifests."""
        return [each for each in self.result.outputs if each.path.endswith(".yaml")]


def broken(name: str, result: Result) -> list[str]:
    """Return what an example or a case breaks, each with the rule."""
    pods = [Pod(output, spec) for output in result.outputs for spec in _pod_specs(output.manifest.body)]
    repo = Repository(name, result, pods, {each.path: render(each) for each in result.outputs})
    return [f"{rule.__name__}: {found}" for rule in RULES for found in rule(repo)]


def _pod_specs(body: Any) -> Iterator[Body]:
    """Every pod spec in an object, except in the schemas of CRDs."""
    if isinstance(body, dict) and body.get("kind") != "CustomResourceDefinition":
        if "containers" in body:
            yield body
        for below in body.values():
            yield from _pod_specs(below)


def checks_are_passed(repo: Repository) -> Iterator[object]:
    yield from repo.result.errors
    if not repo.result.outputs:
        yield "no output"


def a_reader_of_yaml_sees_the_same(repo: Repository) -> Iterator[object]:
    """Save CRDs, which are large, and the same everywhere: one example has them read."""
    for output in repo.result.outputs:
        read = not output.path.startswith("crds/") or repo.name == "imagenet"
        if read and yaml.load(repo.contents[output.path], yaml.CSafeLoader) != output.manifest.body:
            yield output.path


def names_and_labels_fit(repo: Repository) -> Iterator[object]:
    for body in (output.manifest.body for output in repo.result.outputs):
        metadata = body["metadata"]
        if len(metadata["name"]) > NAME_LIMITS.get(body["kind"], 253):
            yield metadata["name"]
        for key, value in metadata.get("labels", {}).items():
            if len(key.rpartition("/")[2]) > 63 or len(value) > 63:
                yield key, value


def no_secret_is_written_in_plain_text(repo: Repository) -> Iterator[object]:
    yield from repo.of_kind("Secret")
    for container in repo.agents:
        moves = container["command"][-1] == "stowplan.agents.transfer"
        for variable in container["env"]:
            literal = variable["name"] not in SECRET_OPTIONS if moves else variable["name"] in LITERAL_ENVIRONMENT
            if "valueFrom" not in variable and not literal:
                yield variable


def every_pod_is_restricted(repo: Repository) -> Iterator[object]:
    for pod in (each for each in repo.pods if not each.of_user):
        context = pod.spec["securityContext"]
        kept = (
            context["runAsNonRoot"] or repo.name == ROOT_TASKS,
            context["seccompProfile"] == {"type": "RuntimeDefault"},
            not {"hostNetwork", "hostPID", "hostIPC", "ephemeralContainers"} & set(pod.spec),
            {key for volume in pod.spec["volumes"] for key in volume} - {"name"} <= UNPRIVILEGED_VOLUMES,
            all("/stowplan-" in container["image"] for container in pod.containers),
        )
        if not all(kept):
            yield pod.output.path, kept
    for container in repo.agents:
        own = container["securityContext"]
        kept = (
            own["capabilities"] == {"drop": ["ALL"]},
            own["allowPrivilegeEscalation"] is False,
            own["readOnlyRootFilesystem"] is True,
            set(container["resources"]) == {"requests", "limits"},
            "sh" not in container["command"],
        )
        if not all(kept):
            yield container, kept


def an_agent_beside_a_users_containers_is_restricted_by_itself(repo: Repository) -> Iterator[object]:
    """The pod's own context is the user's. What locks a lineage writes beside the user's checkpoints, as that user."""
    for pod in repo.pods:
        if pod.of_user and pod.output.manifest.kind not in TRAINING_KINDS:
            for container in (each for each in pod.containers if each["name"] in BESIDE_USERS):
                writer = pod.spec if container["name"] == "hold-lineage" else {}
                user = writer.get("securityContext", {}).get("runAsUser", 65532)
                context = container["securityContext"]
                found = context["runAsNonRoot"], context["runAsUser"], context["seccompProfile"]
                if found != (True, user, {"type": "RuntimeDefault"}):
                    yield pod.output.path, container["name"], found


def names_of_a_run_end_alike(repo: Repository) -> Iterator[object]:
    """All objects of a training run end in its hash, those of its gate in another one, and no other object does.

    What fetches its code and copies its outputs has hashes of its own, of which the run's hash or its name is made.
    """
    specs = {output.spec for output in repo.result.outputs}
    for spec in (each for each in specs if each and each.kind in TRAINING_KINDS):
        own = [output.manifest for output in repo.result.outputs if output.spec == spec]
        own = [each for each in own if each.kind not in ("ConfigMap", "Job") or _component(each) not in _APART]
        endings = {manifest.name[-HASH_LENGTH:] for manifest in own if manifest.run and not _of_gate(manifest)}
        gates = {manifest.name[-HASH_LENGTH:] for manifest in own if manifest.run and _of_gate(manifest)}
        others = {manifest.name[-HASH_LENGTH:] for manifest in own if not manifest.run}
        if (len(endings), len(gates) <= 1, endings & gates, (endings | gates) & others) != (1, True, set(), set()):
            yield spec, endings, gates, others


_APART = ("code", "output")


def _component(manifest: Manifest) -> str:
    return str(manifest.body["metadata"]["labels"]["app.kubernetes.io/component"])


def _of_gate(manifest: Manifest) -> bool:
    return manifest.stem.endswith("-gate")


def files_of_a_run_have_the_form_by_which_kept_ones_are_known(repo: Repository) -> Iterator[object]:
    outputs = repo.result.outputs
    for output in (each for each in outputs if each.manifest.run):
        entry, own = (
            entry_of(output, repo.contents[output.path]),
            [each for each in outputs if each.spec == output.spec],
        )
        refused = refusal(entry, output.manifest, own, Base("main", frozenset({Voucher.of(entry)})))
        if refused is not None or (output.id.group, output.id.kind) not in RUN_KINDS:
            yield output.path, refused


def roles_name_what_they_are_for(repo: Repository) -> Iterator[object]:
    """Save that of the reporter, which reads all there is of some kinds, and writes the status of ours alone.

    Await reads the pod in which it runs. The Job controller makes up its name, and await cannot list pods.
    """
    yield from repo.of_kind("ClusterRole")
    for role in repo.of_kind("Role"):
        for rule in role["rules"]:
            if role["metadata"]["labels"]["app.kubernetes.io/component"] == "await" and "pods" in rule["resources"]:
                kept = rule == {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
            elif role["metadata"]["name"] != REPORTER:
                kept = bool(rule["resourceNames"])
            else:
                reads = set(rule["verbs"]) <= {"get", "list", "watch"}
                status = all(resource.endswith("/status") for resource in rule["resources"])
                kept = reads or (rule["verbs"] == ["patch"] and status)
            if not kept or any("*" in entry for entries in rule.values() for entry in entries):
                yield role["metadata"]["name"], rule


def data_outlives_its_objects(repo: Repository) -> Iterator[object]:
    given_up = {each["metadata"]["name"] for each in repo.of_kind("Dataset") if each["spec"].get("retain") is False}
    keepers = ("PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "Namespace")
    for body in (body for kind in keepers for body in repo.of_kind(kind)):
        said = body["metadata"]["labels"].get("stowplan.dev/name") in given_up
        options = "Prune=true,Delete=true" if said else "Prune=false,Delete=false"
        if body["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] != options:
            yield body["metadata"]
    for volume in repo.of_kind("PersistentVolume"):
        if volume["spec"]["persistentVolumeReclaimPolicy"] != "Retain":
            yield volume


def no_mount_option_means_anything_to_a_shell(repo: Repository) -> Iterator[object]:
    """The CSI driver joins them into a command line for `sh -c`, in a privileged container."""
    every = (each for volume in repo.of_kind("PersistentVolume") for each in volume["spec"].get("mountOptions", ()))
    yield from (option for option in every if SHELL_SYNTAX & set(option))


def nothing_that_runs_is_waited_for(repo: Repository) -> Iterator[object]:
    """Whatever has a health in Argo CD is in the last wave."""
    waves = {output.manifest.kind: output.manifest.wave for output in repo.synced}
    yield from {kind for kind, wave in waves.items() if wave < max(waves.values())} - EARLY


def no_agent_may_connect_to_its_own_pod(repo: Repository) -> Iterator[object]:
    """The option is for people who transfer from a server on their own machine."""
    for container in repo.agents:
        if "--allow-loopback" in [*container["command"], *container.get("args", ())]:
            yield container


def exactly_one_application_covers_each_file(repo: Repository) -> Iterator[object]:
    for root in (each for each in repo.of_kind("Application") if each["metadata"]["name"].endswith("-root")):
        prefix = root["spec"]["source"]["path"].removesuffix("argocd")
        folders = [each["spec"]["source"]["path"] + "/" for each in repo.of_kind("Application")]
        for output in repo.synced:
            if sum(f"{prefix}{output.path}".startswith(folder) for folder in folders) != 1:
                yield output.path


def the_project_allows_every_kind_and_destination(repo: Repository) -> Iterator[object]:
    projects = {project["metadata"]["name"]: project["spec"] for project in repo.of_kind("AppProject")}
    specs = [application["spec"] for application in repo.of_kind("Application")]
    named = {USERS_PROJECTS[repo.name]} if repo.name in USERS_PROJECTS else set()
    used = {spec["project"] for spec in specs}
    if used != projects.keys() | named:
        yield used, projects.keys()
    for spec in (each for each in specs if each["project"] in projects):
        if not any(_covers(each, spec["destination"]) for each in projects[spec["project"]]["destinations"]):
            yield spec
    applications = {spec["source"]["path"].rpartition("/")[2]: spec["project"] for spec in specs}
    for output in repo.synced if specs else ():
        project = projects.get(applications[output.path.partition("/")[0]])
        scope = "namespaceResourceWhitelist" if output.manifest.namespace else "clusterResourceWhitelist"
        kind = {"group": output.manifest.group, "kind": output.manifest.kind}
        if not (kind in project[scope] if project else output.path.startswith("argocd/")):
            yield output.path


def _covers(allowed: dict[str, str], destination: dict[str, str]) -> bool:
    same_cluster = all(allowed.get(key) == destination.get(key) for key in ("name", "server"))
    return same_cluster and fnmatchcase(destination["namespace"], allowed["namespace"])


def the_application_reads_each_file_of_its_folder(repo: Repository) -> Iterator[object]:
    read = [each["spec"]["source"]["directory"] for each in repo.of_kind("Application")]
    yield from (each for each in read if each != READ)
    for path in (output.path.partition("/")[2] for output in repo.synced if read):
        # As in Argo CD, `*` matches slashes too.
        included = any(fnmatchcase(path, each) for each in ("*.yaml", "**/*.yaml"))
        if not included or any(fnmatchcase(path, each) for each in (".*", ".*/**", "**/.*", "**/.*/**")):
            yield path


def objects_of_engines_fit_their_crds(repo: Repository) -> Iterator[object]:
    """If the CRDs are beside this repository."""
    yield from misfits(repo.result)


RULES = (
    checks_are_passed,
    a_reader_of_yaml_sees_the_same,
    names_and_labels_fit,
    no_secret_is_written_in_plain_text,
    every_pod_is_restricted,
    an_agent_beside_a_users_containers_is_restricted_by_itself,
    names_of_a_run_end_alike,
    files_of_a_run_have_the_form_by_which_kept_ones_are_known,
    roles_name_what_they_are_for,
    data_outlives_its_objects,
    no_mount_option_means_anything_to_a_shell,
    nothing_that_runs_is_waited_for,
    no_agent_may_connect_to_its_own_pod,
    exactly_one_application_covers_each_file,
    the_project_allows_every_kind_and_destination,
    the_application_reads_each_file_of_its_folder,
    objects_of_engines_fit_their_crds,
)
