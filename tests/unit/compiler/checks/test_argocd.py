"""Effects of Argo CD on the objects."""

from typing import Any

import pytest

from stowplan.compiler.checks.across_specs import (
    application_size,
    held_syncs,
    missing_definitions,
    project_kinds,
    waves,
)
from stowplan.compiler.checks.objects.finding import ObjectFinding
from stowplan.compiler.checks.per_spec import argocd_annotations, cluster_fields, protection
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Severity
from tests.unit.compiler.checks.given import (
    GONE,
    annotated,
    body,
    changed,
    claim,
    config_map,
    definition,
    fields,
    foreign,
    graph,
    job,
    objects,
    output,
    role,
    role_binding,
    service,
    stateful_set,
    texts,
    volume,
)

PREFIX = 'metadata.annotations["argocd.argoproj.io/'
OPTIONS = f'{PREFIX}sync-options"]'
WAVE = f'{PREFIX}sync-wave"]'
NAMESPACE = body("Namespace", "ml", namespace="")
THING = body("Thing", "a", api="example.com/v1", spec={})


def application(*options: str) -> Json:
    spec = {"project": "stowplan", "syncPolicy": {"syncOptions": list(options)}}
    return body("Application", "stowplan-ml", api="argoproj.io/v1alpha1", namespace="argocd", spec=spec)


def project(**lists: Any) -> Json:
    return body("AppProject", "stowplan", api="argoproj.io/v1alpha1", namespace="argocd", spec=lists)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("sync_wave", "first", "SP520"),
        ("sync_wave", "", "SP520"),
        ("sync_wave", "1.5", "SP520"),
        ("hook", "PreSink", "SP521"),
        ("hook_delete_policy", "HookSuceeded", "SP521"),
        ("sync_options", "Prune=never", "SP521"),
        ("sync_options", "Prune=false, Delet=false", "SP521"),
        ("sync_options", "CreateNamespace=true", "SP521"),
        ("compare_options", "IgnoreExtranous", "SP521"),
    ],
)
def test_a_value_that_argo_cd_does_not_know(name: str, value: str, code: str) -> None:
    found = argocd_annotations.check(objects(foreign(annotated(job(), **{name: value}))))
    assert fields(found) == [(code, f'{PREFIX}{name.replace("_", "-")}"]')]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sync_wave", "-1"),
        ("sync_wave", "+2"),
        ("hook", "PreSync,PostSync"),
        ("hook_delete_policy", "BeforeHookCreation"),
        ("sync_options", "Prune=false, Delete=false,SkipDryRunOnMissingResource=true"),
        ("compare_options", "IgnoreExtraneous"),
    ],
)
def test_a_value_that_argo_cd_knows(name: str, value: str) -> None:
    assert argocd_annotations.check(objects(foreign(annotated(job(), **{name: value})))) == []


def test_a_null_as_wave_is_reported_as_a_null() -> None:
    made = objects(changed(job(), "metadata.annotations", {"argocd.argoproj.io/sync-wave": None}))
    assert argocd_annotations.check(made) == []
    assert fields(cluster_fields.check(made)) == [("SP531", WAVE)]


def test_the_hint_offers_the_nearest_value() -> None:
    found = argocd_annotations.check(objects(annotated(job(), hook="PostSink")))
    assert 'Did you mean "PostSync"?' in texts(found)


def test_options_of_an_application() -> None:
    assert argocd_annotations.check(objects(application("CreateNamespace=true", "ServerSideApply=true"))) == []
    found = argocd_annotations.check(objects(application("ServerSideApply=yes")))
    assert fields(found) == [("SP521", "spec.syncPolicy.syncOptions[0]")]


def test_a_generated_name_needs_a_hook() -> None:
    generated = changed(changed(job(), "metadata.name", GONE), "metadata.generateName", "work-")
    assert fields(argocd_annotations.check(objects(generated))) == [("SP528", "metadata.generateName")]
    assert argocd_annotations.check(objects(foreign(annotated(generated, hook="PostSync")))) == []


def test_a_hook_of_a_spec_is_refused() -> None:
    found = argocd_annotations.check(objects(annotated(job(), hook="PreSync")))
    assert fields(found) == [("SP610", f'{PREFIX}hook"]')]


@pytest.mark.parametrize("made", [volume(), claim(), definition(), NAMESPACE], ids=lambda made: str(made["kind"]))
@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ("", ": Prune=false,Delete=false is missing"),
        ("Prune=false", ": Delete=false is missing"),
        ("Delete=false", ": Prune=false is missing"),
        ("Prune=true,Delete=false", ": Prune=false is missing"),
        ("Prune=true,Delete=true", ": Prune=false,Delete=false is missing"),
    ],
)
def test_volumes_and_claims_need_both_protections(made: Json, options: str, missing: str) -> None:
    found = protection.check(objects(annotated(made, sync_options=options)))
    assert fields(found) == [("SP530", OPTIONS)]
    assert missing in texts(found)


@pytest.mark.parametrize("made", [volume(), claim(), definition(), NAMESPACE], ids=lambda made: str(made["kind"]))
@pytest.mark.parametrize("options", ["Prune=false,Delete=false", "Prune=confirm,Delete=confirm"])
def test_protected_objects_pass(made: Json, options: str) -> None:
    assert protection.check(objects(annotated(made, sync_options=options))) == []


def test_a_foreign_object_without_protection_is_a_warning() -> None:
    found = protection.check(objects(foreign(annotated(claim(), sync_options=""))))
    assert [each.found.severity for each in found] == [Severity.WARNING]


def test_the_reclaim_policy_of_a_volume() -> None:
    found = protection.check(objects(volume(persistentVolumeReclaimPolicy="Delete")))
    assert fields(found) == [("SP530", "spec.persistentVolumeReclaimPolicy")]
    assert protection.check(objects(changed(volume(), "spec.persistentVolumeReclaimPolicy", GONE))) == []


@pytest.mark.parametrize("made", [volume(), claim(), definition(), NAMESPACE], ids=lambda made: str(made["kind"]))
@pytest.mark.parametrize("option", ["Replace=true", "Force=true"])
def test_replacing_objects_with_data_is_refused(made: Json, option: str) -> None:
    found = protection.check(objects(annotated(made, sync_options=f"Prune=false,Delete=false,{option}")))
    assert fields(found) == [("SP529", OPTIONS)]


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (job(ttlSecondsAfterFinished=60), "spec.ttlSecondsAfterFinished"),
        (annotated(job(), sync_options="Replace=true"), OPTIONS),
        (annotated(job(), sync_options="Force=true"), OPTIONS),
    ],
)
def test_a_job_that_would_run_again_by_itself(made: Json, path: str) -> None:
    assert fields(protection.check(objects(made))) == [("SP522", path)]
    assert protection.check(objects(annotated(made, hook="PostSync"))) == []


@pytest.mark.parametrize("option", ["PruneLast=true", "Prune=confirm"])
def test_an_option_that_holds_the_sync_of_jobs(option: str) -> None:
    holding = annotated(config_map(), sync_options=option)
    assert fields(held_syncs.check(graph(holding, job()))) == [("SP535", OPTIONS)]
    assert held_syncs.check(graph(holding)) == []
    elsewhere = changed(job(), "metadata.namespace", "other")
    assert held_syncs.check(graph(holding, elsewhere)) == []


def test_an_application_must_not_hold_its_sync() -> None:
    found = protection.check(objects(application("ServerSideApply=true", "PruneLast=true")))
    assert fields(found) == [("SP535", "spec.syncPolicy.syncOptions[1]")]


def at(made: Json, wave: str) -> Json:
    return annotated(made, sync_wave=wave)


EARLY = [
    NAMESPACE,
    role(),
    role_binding(subjects=[]),
    config_map(),
    service(),
    body("ServiceAccount", "agent"),
    body("NetworkPolicy", "a", api="networking.k8s.io/v1"),
]


@pytest.mark.parametrize("made", EARLY, ids=lambda made: str(made["kind"]))
def test_kinds_without_health_may_be_in_an_earlier_wave(made: Json) -> None:
    assert waves.check(graph(at(made, "-1"), job(), stateful_set())) == []


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (job(), "SP524"),
        (stateful_set(serviceName=""), "SP524"),
        (body("CronJob", "a", api="batch/v1"), "SP524"),
        (body("PodDisruptionBudget", "a", api="policy/v1"), "SP524"),
        (service(type="LoadBalancer"), "SP524"),
        (THING, "SP524"),
        (claim(), "SP523"),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else value,
)
def test_kinds_with_health_must_be_in_the_last_wave(made: Json, code: str) -> None:
    last = job("last")
    assert fields(waves.check(graph(at(made, "-1"), last))) == [(code, WAVE)]
    assert waves.check(graph(at(made, "0"), last)) == []


def test_the_last_wave_is_that_of_one_application() -> None:
    elsewhere = changed(job("last"), "metadata.namespace", "other")
    assert waves.check(graph(at(job(), "-1"), elsewhere)) == []


def test_the_finding_names_the_later_object_that_makes_a_job_wait() -> None:
    found = waves.check(graph(job(), at(config_map(), "5")))
    assert "ConfigMap ml/settings is in wave 5" in texts(found)


def test_an_object_in_a_wave_before_its_target_is_reported() -> None:
    binding = role_binding(subjects=[])
    found = waves.check(graph(at(binding, "-2"), at(role(), "-1")))
    assert fields(found) == [("SP525", "roleRef.name")]
    assert waves.check(graph(at(binding, "-1"), at(role(), "-1"))) == []


def test_an_early_wave_of_a_foreign_object_is_a_warning() -> None:
    found = waves.check(graph(foreign(at(THING, "-1")), job()))
    assert [each.found.severity for each in found] == [Severity.WARNING]


def synced(*made: Any) -> list[ObjectFinding]:
    found = graph(*made)
    return [*application_size.check(found), *project_kinds.check(found), *missing_definitions.check(found)]


CR = annotated(THING, sync_options="SkipDryRunOnMissingResource=true")


def test_a_custom_resource_must_survive_the_dry_run_without_its_crd() -> None:
    assert synced(CR) == []
    assert fields(synced(THING)) == [("SP527", OPTIONS)]


def test_a_crd_in_the_same_application_is_known_to_the_dry_run() -> None:
    assert synced(output(THING, folder="all"), output(definition(), folder="all")) == []
    assert len(synced(THING, definition())) == 1


def test_kinds_of_argo_cd_and_kubernetes_need_no_crd() -> None:
    assert synced(application(), job(), definition()) == []


JOB_ONLY = {"namespaceResourceWhitelist": [{"group": "batch", "kind": "Job"}]}


@pytest.mark.parametrize(
    ("made", "lists"),
    [
        (service(), JOB_ONLY),
        (volume(), {"clusterResourceWhitelist": [{"group": "", "kind": "Namespace"}]}),
        (volume(), {}),
        (CR, {"namespaceResourceWhitelist": [{"group": "other.com", "kind": "Thing"}]}),
    ],
)
def test_a_kind_that_the_project_does_not_allow(made: Json, lists: Json) -> None:
    assert fields(synced(made, project(**lists))) == [("SP533", "kind")]


@pytest.mark.parametrize(
    ("made", "lists"),
    [
        (job(), JOB_ONLY),
        (service(), {}),
        (volume(), {"clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}),
        (application(), {"namespaceResourceWhitelist": []}),
    ],
)
def test_a_kind_that_the_project_allows(made: Json, lists: Json) -> None:
    assert synced(made, project(**lists)) == []


def test_an_application_near_the_limit_of_the_repo_server() -> None:
    half = "x" * 4_500_000
    found = synced(config_map("a", text=half), config_map("b", text=half))
    assert fields(found) == [("SP532", "")]
    assert "The folder ml/ has about 9 MB" in texts(found)
    assert "This is the largest of its 2 objects." in texts(found)
    small = synced(config_map("a", text="x"), config_map("b", text=half), config_map("c", text=half))
    assert [each.object.name for each in small] == ["b"]
    other = changed(config_map("b", text=half), "metadata.namespace", "other")
    assert synced(config_map("a", text=half), other) == []
