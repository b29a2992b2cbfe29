"""Rules for every manifest of every example and case."""

import io
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from stowplan.compiler.committed.acceptance import refusal
from stowplan.compiler.committed.vouching import RUN_KINDS, Base, Voucher
from stowplan.compiler.model import Output
from stowplan.compiler.output.render import entry_of, render
from stowplan.library.delivery.reporter import NAME as REPORTER
from stowplan.library.manifest import Manifest
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.agents.cache_config import SOURCE_SECRET_ENV
from stowplan.schema.kinds.table import TRAINING_KINDS
from tests.repositories import CASES, EXAMPLES, REPOSITORY, Result, case, example
from tests.repositories import compiled as compiled_repository

ALL = [*(f"example-{name}" for name in EXAMPLES), *(f"case-{name}" for name in CASES)]
WITH_ARGOCD = [*(f"example-{name}" for name in EXAMPLES if name != "constructs"), "case-platform-argocd"]
"""Repositories whose platform names where the output is committed; `test_delivered_by_argocd` holds the list."""

USERS_PROJECTS = {"example-kitchen-sink": "kitchen-applications", "case-platform-argocd": "platform"}
"""The projects of root Applications that Stowplan does not write."""

NAME_LIMITS = {"Service": 63, "PersistentVolume": 63, "Job": 63, "CronJob": 52, "StatefulSet": 52, "Namespace": 63}
"""Kubernetes 1.34 allows 253 for the others; 63 for a volume is ours, since its name is a handle too."""

LITERAL_ENVIRONMENT = {"HOME", "S3_ENDPOINT", "S3_REGION"}
SECRET_OPTIONS = {"TOKEN", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY", "S3_SESSION_TOKEN", *SOURCE_SECRET_ENV.values()}
"""Options of DataCubes, as variables, that no pod has in the open; the others are the users' own words."""
UNPRIVILEGED_VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
BESIDE_USERS = ("await", "fetch-code", "hold-lineage", "wait-dataset", "wait-peers", "wait-run")
"""Containers of agents in pods whose security context may be the user's."""
ROOT_TASKS = "case-platform-root-tasks"
SHELL_SYNTAX = set(";&|<>$`'\"(){}!*?[]~#\\ \t\n")


def compiled(name: str) -> Result:
    sort, _, rest = name.partition("-")
    return example(rest) if sort == "example" else case(rest)


def bodies(name: str) -> Iterator[dict[str, Any]]:
    return (output.manifest.body for output in compiled(name).outputs)


def pods(body: Any) -> Iterator[dict[str, Any]]:
    """Every pod spec in an object, except in the schemas of CRDs."""
    if isinstance(body, dict) and body.get("kind") != "CustomResourceDefinition":
        if "containers" in body:
            yield body
        for below in body.values():
            yield from pods(below)


def our_pods(name: str) -> Iterator[dict[str, Any]]:
    """The pods that no user described."""
    for output in compiled(name).outputs:
        if not (output.spec and output.spec.kind in TRAINING_KINDS):
            yield from pods(output.manifest.body)


def our_containers(name: str) -> Iterator[dict[str, Any]]:
    """The containers of our agents, in whichever pod."""
    for output in compiled(name).outputs:
        if output.manifest.kind not in TRAINING_KINDS:
            every = (container for pod in pods(output.manifest.body) for container in _containers(pod))
            yield from (container for container in every if "/stowplan-" in container["image"])


def _containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", ()), *pod["containers"]]


def synced(name: str) -> list[Output]:
    """What Argo CD reads as manifests."""
    return [output for output in compiled(name).outputs if output.path.endswith(".yaml")]


def of_kind(name: str, kind: str) -> list[dict[str, Any]]:
    return [body for body in bodies(name) if body["kind"] == kind]


@pytest.mark.parametrize("name", ALL)
def test_passes_its_checks(name: str) -> None:
    assert compiled(name).errors == []
    assert compiled(name).outputs


@pytest.mark.parametrize("name", ALL)
def test_every_reader_of_yaml_sees_the_same(name: str) -> None:
    for output in compiled(name).outputs:
        if output.path.startswith("crds/") and name != "example-imagenet":
            continue  # large, and the same everywhere
        content = render(output)
        assert yaml.load(content, yaml.CSafeLoader) == output.manifest.body, output.path
        assert YAML(typ="safe", pure=True).load(io.BytesIO(content)) == output.manifest.body, output.path


@pytest.mark.parametrize("name", ALL)
def test_names_and_labels_fit(name: str) -> None:
    for body in bodies(name):
        metadata = body["metadata"]
        assert len(metadata["name"]) <= NAME_LIMITS.get(body["kind"], 253), metadata["name"]
        for key, value in metadata.get("labels", {}).items():
            assert len(key.rpartition("/")[2]) <= 63, key
            assert len(value) <= 63, value


@pytest.mark.parametrize("name", ALL)
def test_no_secret_is_written_in_plain_text(name: str) -> None:
    assert of_kind(name, "Secret") == []
    for container in our_containers(name):
        moves = container["command"][-1] == "stowplan.agents.transfer"
        for variable in container["env"]:
            literal = variable["name"] not in SECRET_OPTIONS if moves else variable["name"] in LITERAL_ENVIRONMENT
            assert "valueFrom" in variable or literal, variable


@pytest.mark.parametrize("name", ALL)
def test_every_pod_is_restricted(name: str) -> None:
    for pod in our_pods(name):
        context = pod["securityContext"]
        assert context["runAsNonRoot"] or name == ROOT_TASKS
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"hostNetwork", "hostPID", "hostIPC", "ephemeralContainers"} & set(pod)
        assert {key for volume in pod["volumes"] for key in volume} - {"name"} <= UNPRIVILEGED_VOLUMES
        assert all("/stowplan-" in container["image"] for container in _containers(pod))
    for container in our_containers(name):
        own = container["securityContext"]
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert own["allowPrivilegeEscalation"] is False
        assert own["readOnlyRootFilesystem"] is True
        assert set(container["resources"]) == {"requests", "limits"}
        assert "sh" not in container["command"]


@pytest.mark.parametrize("name", ALL)
def test_an_agent_beside_a_users_containers_is_restricted_by_itself(name: str) -> None:
    """The pod's own context is the user's. What locks a lineage writes beside the user's checkpoints, as that user."""
    for output in compiled(name).outputs:
        if output.spec and output.spec.kind in TRAINING_KINDS and output.manifest.kind not in TRAINING_KINDS:
            both = [(pod, each) for pod in pods(output.manifest.body) for each in _containers(pod)]
            for pod, container in both:
                if container["name"] in BESIDE_USERS:
                    context = container["securityContext"]
                    writer = pod if container["name"] == "hold-lineage" else {}
                    user = writer.get("securityContext", {}).get("runAsUser", 65532)
                    assert (context["runAsNonRoot"], context["runAsUser"]) == (True, user)
                    assert context["seccompProfile"] == {"type": "RuntimeDefault"}


_APART = ("code", "output")


def _component(manifest: Manifest) -> str:
    return str(manifest.body["metadata"]["labels"]["app.kubernetes.io/component"])


@pytest.mark.parametrize("name", ALL)
def test_names_of_a_run_end_alike(name: str) -> None:
    """All objects of a training run end in its hash, those of its gate in another one, and no other object does.

    What fetches its code and copies its outputs has hashes of its own, of which the run's hash or its name is made.
    """
    specs = {output.spec for output in compiled(name).outputs}
    for spec in (each for each in specs if each and each.kind in TRAINING_KINDS):
        own = [output.manifest for output in compiled(name).outputs if output.spec == spec]
        own = [each for each in own if each.kind not in ("ConfigMap", "Job") or _component(each) not in _APART]
        endings = {manifest.name[-HASH_LENGTH:] for manifest in own if manifest.run and not _of_gate(manifest)}
        gates = {manifest.name[-HASH_LENGTH:] for manifest in own if manifest.run and _of_gate(manifest)}
        assert (len(endings), len(gates) <= 1, endings & gates) == (1, True, set())
        assert not (endings | gates) & {manifest.name[-HASH_LENGTH:] for manifest in own if not manifest.run}


def _of_gate(manifest: Manifest) -> bool:
    return manifest.stem.endswith("-gate")


@pytest.mark.parametrize("name", ALL)
def test_files_of_a_run_have_the_form_by_which_kept_ones_are_known(name: str) -> None:
    outputs = compiled(name).outputs
    for output in outputs:
        if output.manifest.run:
            entry, own = entry_of(output, render(output)), [each for each in outputs if each.spec == output.spec]
            base = Base("main", frozenset({Voucher.of(entry)}))
            assert refusal(entry, output.manifest, own, base) is None


def test_every_kind_that_may_be_kept_is_part_of_some_run() -> None:
    runs = [output.id for name in ALL for output in compiled(name).outputs if output.manifest.run]
    assert {(known.group, known.kind) for known in runs} == RUN_KINDS


@pytest.mark.parametrize("name", ALL)
def test_roles_name_what_they_are_for(name: str) -> None:
    """Save that of the reporter, which reads all there is of some kinds, and writes the status of ours alone.

    Await reads the pod in which it runs. The Job controller makes up its name, and await cannot list pods.
    """
    for role in of_kind(name, "Role"):
        for rule in role["rules"]:
            if role["metadata"]["labels"]["app.kubernetes.io/component"] == "await" and "pods" in rule["resources"]:
                assert rule == {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
            elif role["metadata"]["name"] != REPORTER:
                assert rule["resourceNames"]
            elif not set(rule["verbs"]) <= {"get", "list", "watch"}:
                assert rule["verbs"] == ["patch"]
                assert all(resource.endswith("/status") for resource in rule["resources"])
            assert not [entry for entries in rule.values() for entry in entries if "*" in entry]
    assert of_kind(name, "ClusterRole") == []


@pytest.mark.parametrize("name", ALL)
def test_data_outlives_its_objects(name: str) -> None:
    given_up = {each["metadata"]["name"] for each in of_kind(name, "Dataset") if each["spec"].get("retain") is False}
    keepers = ("PersistentVolume", "PersistentVolumeClaim", "CustomResourceDefinition", "Namespace")
    for body in (body for kind in keepers for body in of_kind(name, kind)):
        said = body["metadata"]["labels"].get("stowplan.dev/name") in given_up
        options = "Prune=true,Delete=true" if said else "Prune=false,Delete=false"
        assert body["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == options
    assert all(
        volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain" for volume in of_kind(name, "PersistentVolume")
    )


@pytest.mark.parametrize("name", ALL)
def test_no_mount_option_means_anything_to_a_shell(name: str) -> None:
    """The CSI driver joins them into a command line for `sh -c`, in a privileged container."""
    for volume in of_kind(name, "PersistentVolume"):
        for option in volume["spec"].get("mountOptions", ()):
            assert not SHELL_SYNTAX & set(option), option


def test_no_committed_mount_option_means_anything_to_a_shell() -> None:
    """In what Argo CD syncs, whatever compiled it."""
    files = sorted((REPOSITORY / "out").glob("**/persistentvolume-*.yaml"))
    assert files
    for file in files:
        for option in yaml.safe_load(file.read_text())["spec"].get("mountOptions", ()):
            assert not SHELL_SYNTAX & set(option), (file, option)


@pytest.mark.parametrize("name", ALL)
def test_nothing_that_runs_is_waited_for(name: str) -> None:
    """Whatever has a health in Argo CD is in the last wave."""
    waves = {output.manifest.kind: output.manifest.wave for output in synced(name)}
    early = {kind for kind, wave in waves.items() if wave < max(waves.values())}
    assert early <= {
        "AppProject",
        "Namespace",
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "NetworkPolicy",
        "ConfigMap",
        "Service",
    }


@pytest.mark.parametrize("name", ALL)
def test_no_agent_may_connect_to_its_own_pod(name: str) -> None:
    """The option is for people who transfer from a server on their own machine."""
    for container in our_containers(name):
        assert "--allow-loopback" not in [*container["command"], *container.get("args", ())]


def test_delivered_by_argocd() -> None:
    examples = [name for name in ALL if name.startswith("example-") and of_kind(name, "AppProject")]
    assert {*examples, "case-platform-argocd"} == set(WITH_ARGOCD)


@pytest.mark.parametrize("name", WITH_ARGOCD)
def test_exactly_one_application_covers_each_file(name: str) -> None:
    root = next(body for body in of_kind(name, "Application") if body["metadata"]["name"].endswith("-root"))
    prefix = root["spec"]["source"]["path"].removesuffix("argocd")
    folders = [application["spec"]["source"]["path"] + "/" for application in of_kind(name, "Application")]
    for output in synced(name):
        assert sum(f"{prefix}{output.path}".startswith(folder) for folder in folders) == 1, output.path


@pytest.mark.parametrize("name", WITH_ARGOCD)
def test_the_project_allows_every_kind(name: str) -> None:
    projects = {project["metadata"]["name"]: project for project in of_kind(name, "AppProject")}
    applications = {each["spec"]["source"]["path"].rpartition("/")[2]: each for each in of_kind(name, "Application")}
    for output in synced(name):
        manifest = output.manifest
        project = projects.get(applications[output.path.partition("/")[0]]["spec"]["project"])
        if project is None:
            assert output.path.startswith("argocd/")
            continue
        scope = "namespaceResourceWhitelist" if manifest.namespace else "clusterResourceWhitelist"
        assert {"group": manifest.group, "kind": manifest.kind} in project["spec"][scope], output.path


@pytest.mark.parametrize("name", WITH_ARGOCD)
def test_the_project_allows_every_destination(name: str) -> None:
    projects = {project["metadata"]["name"]: project for project in of_kind(name, "AppProject")}
    for application in of_kind(name, "Application"):
        spec = application["spec"]
        if spec["project"] != USERS_PROJECTS.get(name):
            allowed = projects[spec["project"]]["spec"]["destinations"]
            assert any(_covers(each, spec["destination"]) for each in allowed), spec


@pytest.mark.parametrize("name", WITH_ARGOCD)
def test_every_application_is_in_a_project_that_is_written_or_named(name: str) -> None:
    used = {application["spec"]["project"] for application in of_kind(name, "Application")}
    written = {project["metadata"]["name"] for project in of_kind(name, "AppProject")}
    assert used - written == {USERS_PROJECTS[name]} if name in USERS_PROJECTS else used == written


@pytest.mark.parametrize("name", WITH_ARGOCD)
def test_the_application_reads_each_file_of_its_folder(name: str) -> None:
    (directory,) = {str(each["spec"]["source"]["directory"]): None for each in of_kind(name, "Application")}
    assert directory == str({"exclude": "{.*,.*/**,**/.*,**/.*/**}", "include": "{*.yaml,**/*.yaml}", "recurse": True})
    for output in synced(name):
        path = output.path.partition("/")[2]
        # As in Argo CD, `*` matches slashes too.
        assert any(fnmatchcase(path, each) for each in ("*.yaml", "**/*.yaml"))
        assert not any(fnmatchcase(path, each) for each in (".*", ".*/**", "**/.*", "**/.*/**"))


def _covers(allowed: dict[str, str], destination: dict[str, str]) -> bool:
    same_cluster = all(allowed.get(key) == destination.get(key) for key in ("name", "server"))
    return same_cluster and fnmatchcase(destination["namespace"], allowed["namespace"])


def test_the_project_stays_when_the_last_spec_of_a_kind_goes(tmp_path: Path) -> None:
    """Argo CD would orphan the objects of a kind that leaves the list, instead of pruning them."""
    text = CASES["platform-argocd"].read_text()
    platform = text.partition("\n---\n")[0]
    (tmp_path / "without").mkdir()
    (tmp_path / "with").mkdir()
    without = compiled_repository(tmp_path / "without", {"empty.yaml": f"{platform}\n---\n"})
    with_dataset = compiled_repository(tmp_path / "with", {"dataset.yaml": text})
    assert {output.manifest.kind for output in without.outputs} < {
        output.manifest.kind for output in with_dataset.outputs
    }
    assert _project(without) == _project(with_dataset)


def _project(result: Result) -> dict[str, Any]:
    return next(output.manifest.body for output in result.outputs if output.manifest.kind == "AppProject")
