"""A real Argo CD beside a gate: it leaves an opened run open, and respects a user's own `suspend`."""

from collections.abc import Iterator

import pytest

from stowplan.agents.gate.workload import opening
from stowplan.agents.runtime import timestamp
from stowplan.library.delivery.argocd import gate_differences
from stowplan.schema.agents.field_managers import GATE
from stowplan.schema.agents.gate_config import ADMISSION_GATE, ADMISSION_GATE_NAME, GATE_ANNOTATION
from tests.cluster.client import ApiError, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.gates import suspended
from tests.cluster.git_server import serving
from tests.nightly.argocd import argocd
from tests.nightly.argocd.argocd import SECONDS, Programs
from tests.nightly.argocd.plain_applications import PlainApplication, PlainApplications, repository
from tests.nightly.argocd.test_rules import config_map, held_job

CLOSED = {GATE_ANNOTATION: "Dataset flowers"}


@pytest.fixture(scope="module")
def made(
    argocd_programs: Programs, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlainApplications]:
    folder = tmp_path_factory.mktemp("argocd-gates")
    plain = repository(folder)
    with serving(folder) as base, argocd.running(cluster, "gates", argocd_programs, folder) as running:
        yield PlainApplications(cluster, running, plain, f"{base}/plain.git")


def job(annotations: dict[str, str], *, suspend: bool = True) -> Manifest:
    body = held_job("run")
    body["metadata"]["annotations"] = {"argocd.argoproj.io/sync-wave": "0", **annotations}
    return {**body, "spec": {**body["spec"], **({"suspend": True} if suspend else {})}}


def live(application: PlainApplication) -> Manifest:
    return application.argocd.client.get(ref("batch/v1", "Job", "run", application.name))


def open_as_a_gate(application: PlainApplication, *, admission: bool = False) -> None:
    """With the very change that a gate makes."""
    client, merge, parameters = application.argocd.client, "application/merge-patch+json", {"fieldManager": GATE}

    def opened() -> bool:
        found = live(application)
        change = opening(found, timestamp.now(), admission=admission)
        try:
            client.request("PATCH", client.path(found), change, merge, parameters)
        except ApiError as error:
            if error.reason == "Conflict":
                return False
            raise
        return True

    wait_for(opened, what="an open run")


def refreshed(application: PlainApplication) -> None:
    """Argo CD has compared anew, and healed what it wants to heal: until then the application is out of sync."""
    client, name = application.argocd.client, "argocd.argoproj.io/refresh"
    client.patch(application.live(), {"metadata": {"annotations": {name: "hard"}}})

    def healed() -> bool:
        live_application = application.live()
        asked = name in live_application["metadata"].get("annotations", {})
        return not asked and live_application["status"]["sync"]["status"] == "Synced"

    wait_for(healed, SECONDS, what="a refresh")


def test_opened_run_stays_open_and_in_sync(made: PlainApplications) -> None:
    ignored = list(gate_differences())
    with made.application("gates-open", [config_map("base"), job(CLOSED)], ignored=ignored) as application:
        assert suspended(live(application))
        open_as_a_gate(application)
        refreshed(application)
        assert not suspended(live(application))
        assert application.live()["status"]["sync"]["status"] == "Synced"
        # A sync of the Job itself, by another annotation.
        application.deliver([config_map("base", "two"), job({**CLOSED, "example.com/note": "two"})])
        assert live(application)["metadata"]["annotations"]["example.com/note"] == "two"
        assert not suspended(live(application))


def test_users_suspend_of_an_opened_run_counts_and_its_end_lets_the_run_go_on(made: PlainApplications) -> None:
    with made.application("gates-user", [job(CLOSED)], ignored=list(gate_differences())) as application:
        open_as_a_gate(application)
        application.commit([job({})])
        wait_for(lambda: suspended(live(application)), SECONDS, what="a suspended run")
        application.deliver([job(CLOSED)])
        refreshed(application)
        assert not suspended(live(application))


def test_admission_gate_of_kueue_does_not_come_back(made: PlainApplications) -> None:
    annotations = {**CLOSED, ADMISSION_GATE: ADMISSION_GATE_NAME}
    objects = [job(annotations, suspend=False)]
    with made.application("gates-kueue", objects, ignored=list(gate_differences())) as application:
        open_as_a_gate(application, admission=True)
        refreshed(application)
        assert ADMISSION_GATE not in live(application)["metadata"]["annotations"]
        application.deliver([job({**annotations, "example.com/note": "two"}, suspend=False)])
        assert ADMISSION_GATE not in live(application)["metadata"]["annotations"]
