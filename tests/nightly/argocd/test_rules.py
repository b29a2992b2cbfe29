"""Outputs that the compiler refuses because of Argo CD, synced by a real Argo CD: it hangs or loses objects.

Each test compares the result with the prediction of the sync model for the same objects.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from stowplan.compiler.checks.across_specs import held_syncs, project_kinds, waves
from stowplan.compiler.checks.across_specs.facts import facts_of, graph_of
from stowplan.compiler.checks.objects.object import Object, Objects, SpecObjects
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.per_spec import protection
from stowplan.compiler.model import OutputFile
from stowplan.library.manifest import Manifest as Built
from stowplan.schema.platform.platform import Platform
from tests.cluster.client import Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.git_server import serving
from tests.nightly.argocd import argocd
from tests.nightly.argocd.argocd import SECONDS, Programs
from tests.nightly.argocd.plain_applications import PlainApplication, PlainApplications, repository
from tests.sync_model import Gate, SyncPlan, plan

CONFIG_MAPS, JOBS, CRON_JOBS = ("v1", "ConfigMap"), ("batch/v1", "Job"), ("batch/v1", "CronJob")
_HELD = "kwok.stowplan.dev/hold"


def config_map(name: str, text: str = "one", **annotations: str) -> Manifest:
    return _annotated({**ref("v1", "ConfigMap", name), "data": {"text": text}}, annotations)


def held_job(name: str, **annotations: str) -> Manifest:
    """A Job whose pod runs until `end` is called."""
    template = {"metadata": {"annotations": {_HELD: "true"}}, "spec": _POD}
    return _annotated({**ref("batch/v1", "Job", name), "spec": {"template": template}}, annotations)


def cron_job(name: str) -> Manifest:
    """One that does not run during a test."""
    template = {"spec": {"template": {"spec": _POD}}}
    return {**ref("batch/v1", "CronJob", name), "spec": {"schedule": "0 0 1 1 *", "jobTemplate": template}}


_POD = {
    "restartPolicy": "Never",
    "containers": [{"name": "main", "image": "registry.example.com/main:1", "terminationMessagePath": "/dev/null"}],
}


def _annotated(manifest: Manifest, annotations: dict[str, str]) -> Manifest:
    keys = {f"argocd.argoproj.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": keys}}


def end(client: Client, namespace: str, job: str) -> None:
    """Let the pod of a held Job end."""
    labels = f"batch.kubernetes.io/job-name={job}"
    (pod,) = wait_for(lambda: client.list("v1", "Pod", namespace, labels), SECONDS, what=f"pod of {job}")
    client.patch(pod, {"metadata": {"annotations": {_HELD: None}}})


def held(made: SyncPlan) -> set[tuple[str, Gate]]:
    """What the sync waits for, as the model says it: `<kind>/<name>` and why."""
    return {(f"{hold.task.kind[1]}/{hold.task.name}", hold.gate) for hold in made.holds}


def checked(namespace: str, *bodies: Manifest) -> list[Object]:
    """The objects as the compiler's checks read them, in the folder of one Application."""
    return [
        Object(OutputFile(f"{namespace}/{i}.yaml", Built(body, stem=""), None, "")) for i, body in enumerate(bodies)
    ]


def graph(objects: list[Object]) -> ObjectGraph:
    return graph_of([facts_of(SpecObjects(None, Objects(objects), Platform()))], Platform())


def unprotected(objects: list[Object]) -> list[str]:
    """The codes of what could be deleted, run again or hold a sync."""
    found = [*protection.check(Objects(objects)), *held_syncs.check(graph(objects))]
    return [each.found.code for each in found]


@pytest.fixture(scope="module")
def made(
    argocd_programs: Programs, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlainApplications]:
    folder = tmp_path_factory.mktemp("argocd-rules")
    plain = repository(folder)
    with serving(folder) as base, argocd.running(cluster, "rules", argocd_programs, folder) as running:
        yield PlainApplications(cluster, running, plain, f"{base}/plain.git")


def test_job_in_an_early_wave_holds_its_sync_and_the_fix(made: PlainApplications) -> None:
    base, early, late = config_map("base"), held_job("early", sync_wave="-1"), config_map("late")
    predicted = plan([base, early, late])
    assert held(predicted) == {("Job/early", Gate.COMPLETION)}
    assert [each.found.code for each in waves.check(graph(checked("rules-early", base, early, late)))] == ["SP524"]
    with made.application("rules-early", [base]) as application:
        wrong = application.commit([base, early, late])
        application.await_message("waiting for healthy state of batch/Job/early")
        fixed = application.commit([base, late])
        _assert_stuck(application, wrong, fixed)
        assert application.names(CONFIG_MAPS, JOBS) == {"ConfigMap/base", "Job/early"}
        end(made.cluster.admin, "rules-early", "early")
        application.await_sync(fixed)
        assert application.names(CONFIG_MAPS, JOBS) == {"ConfigMap/base", "ConfigMap/late"}


def _assert_stuck(application: PlainApplication, wrong: str, fixed: str) -> None:
    """Argo CD knows the fix, and is still about the commit before it."""
    application.await_seen(fixed)
    operation = application.argocd.operation(application.name)
    assert (operation["phase"], operation["operation"]["sync"]["revision"]) == ("Running", wrong)


@pytest.mark.parametrize("place", ["application", "object"])
def test_prune_last_holds_the_sync_until_the_jobs_are_done(made: PlainApplications, place: str) -> None:
    name = f"rules-last-{place}"
    options = ["PruneLast=true"] if place == "application" else []
    old = config_map("old") if options else config_map("old", sync_options="PruneLast=true")
    base, job = config_map("base"), held_job("run")
    assert held(plan([base, job], [old], prune_last=bool(options))) == {("Job/run", Gate.COMPLETION)}
    with made.application(name, [base, old], *options) as application:
        assert set(unprotected(checked(name, job, old, application.live()))) == {"SP535"}
        wrong = application.commit([base, job])
        application.await_message("waiting for healthy state of batch/Job/run")
        fixed = application.commit([base, job, config_map("more")])
        _assert_stuck(application, wrong, fixed)
        assert application.names(CONFIG_MAPS) == {"ConfigMap/base", "ConfigMap/old"}
        end(made.cluster.admin, name, "run")
        application.await_sync(fixed)
        assert application.names(CONFIG_MAPS) == {"ConfigMap/base", "ConfigMap/more"}


def test_prune_beside_a_running_job_holds_nothing(made: PlainApplications) -> None:
    base, old, job = config_map("base"), config_map("old"), held_job("run")
    assert held(plan([base, job], [old])) == set()
    with made.application("rules-plain", [base, old]) as application:
        application.deliver([base, job])
        assert application.names(CONFIG_MAPS, JOBS) == {"ConfigMap/base", "Job/run"}
        assert "Complete" not in str(made.cluster.admin.get(ref("batch/v1", "Job", "run", "rules-plain"))["status"])


def test_prune_that_wants_to_be_confirmed_holds_every_later_sync(made: PlainApplications) -> None:
    """Also what stands in the same wave: the new run does not begin."""
    name = "rules-confirm"
    base, old = config_map("base"), config_map("old", sync_options="Prune=confirm")
    before, after = held_job("run-1"), held_job("run-2")
    assert held(plan([base, after], [old, before])) == {("ConfigMap/old", Gate.CONFIRMATION)}
    assert unprotected(checked(name, base, old, before)) == ["SP535"]
    with made.application(name, [base, old, before]) as application:
        wrong = application.commit([base, after])
        application.await_message("waiting for pruning confirmation of /ConfigMap/old")
        fixed = application.commit([base, old, after])
        _assert_stuck(application, wrong, fixed)
        assert application.names(CONFIG_MAPS, JOBS) == {"ConfigMap/base", "ConfigMap/old", "Job/run-1"}
        _confirm(application)
        application.await_sync(fixed)
        assert application.names(CONFIG_MAPS, JOBS) == {"ConfigMap/base", "ConfigMap/old", "Job/run-2"}


def _confirm(application: PlainApplication) -> None:
    """What the button in Argo CD's interface does. The hour keeps clocks out of it."""
    moment = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    change: Manifest = {"metadata": {"annotations": {"argocd.argoproj.io/deletion-approved": moment}}}
    application.argocd.client.patch(application.live(), change)


def test_object_of_a_kind_that_leaves_the_list_is_orphaned(made: PlainApplications) -> None:
    """With no word of it: the Application is Synced, and knows nothing of what it left behind."""
    name = "rules-orphan"
    base, nightly = config_map("base"), cron_job("nightly")
    (pruned,) = plan([base], [nightly]).tasks[:1]
    assert (pruned.kind, pruned.prune) == (("batch", "CronJob"), True)
    wide, narrow = ["ConfigMap", "CronJob"], ["ConfigMap"]
    assert _codes(made, name, wide, base, nightly) == []
    assert _codes(made, name, narrow, base, nightly) == ["SP533"]
    with made.application(name, [base, nightly], kinds=wide) as application:
        with application.paused():
            made.allow(name, narrow)
            application.deliver([base])
        application.deliver([base, config_map("more")])
        assert application.names(CONFIG_MAPS, CRON_JOBS) == {"ConfigMap/base", "ConfigMap/more", "CronJob/nightly"}
        assert {item["name"] for item in application.live()["status"]["resources"]} == {"base", "more"}


def test_object_of_a_kind_that_is_not_on_the_list_holds_back_the_others(made: PlainApplications) -> None:
    name = "rules-unlisted"
    base, nightly = config_map("base"), cron_job("nightly")
    assert _codes(made, name, ["ConfigMap"], base, nightly) == ["SP533"]
    with made.application(name, [base], kinds=["ConfigMap"]) as application:
        application.commit([base, nightly, config_map("more")])
        wait_for(lambda: _refusals(application) == {"nightly"}, SECONDS, what="the refusal")
        assert application.names(CONFIG_MAPS, CRON_JOBS) == {"ConfigMap/base"}


def _codes(made: PlainApplications, name: str, kinds: list[str], *bodies: Manifest) -> list[str]:
    """What the check says of namespaced objects under an AppProject that allows only these kinds."""
    project = made.project(name, kinds)
    placed = [{**body, "metadata": {**body["metadata"], "namespace": name}} for body in bodies]
    return [each.found.code for each in project_kinds.check(graph(checked(name, *placed, project)))]


def _refusals(application: PlainApplication) -> set[str]:
    """The names of what the last operation says is not permitted."""
    results = application.argocd.operation(application.name).get("syncResult", {}).get("resources", [])
    return {item["name"] for item in results if "is not permitted in project" in item.get("message", "")}


def test_emptied_folder_changes_nothing(made: PlainApplications) -> None:
    """Although a plan would prune everything: Argo CD's own guard, which no Application of ours turns off."""
    base = config_map("base")
    assert [task.prune for task in plan([], [base]).tasks] == [True]
    with made.application("rules-kept", [base]) as application:
        assert "allowEmpty" not in application.live()["spec"]["syncPolicy"]["automated"]
        application.commit([])
        wait_for(lambda: "wipe out all" in made.argocd.complaints("rules-kept"), SECONDS, what="the guard")
        assert application.names(CONFIG_MAPS) == {"ConfigMap/base"}
        application.deliver([base, config_map("more")])
        assert application.names(CONFIG_MAPS) == {"ConfigMap/base", "ConfigMap/more"}


def test_allow_empty_lets_an_emptied_folder_remove_everything(made: PlainApplications) -> None:
    base = config_map("base")
    with made.application("rules-emptied", [base], allowEmpty=True) as application:
        application.deliver([])
        assert application.names(CONFIG_MAPS) == set()
