"""`stowplan diff`: the effects of a change on the output, the riskiest first."""

import json
import re
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import Result

from stowplan.compiler.diff.change import Action, Change, Danger, Pair, Risk
from stowplan.compiler.diff.comparison import compare
from stowplan.compiler.diff.fields import Field, Nothing, differences
from stowplan.compiler.diff.groups import grouped
from stowplan.compiler.diff.markdown import comment
from stowplan.compiler.diff.risks.pods import Pods
from stowplan.compiler.diff.risks.rules import risks
from stowplan.compiler.diff.terminal import lines
from stowplan.compiler.diff.wording import LONGEST, field_line
from stowplan.compiler.generate import starter
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output.render import render
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels
from stowplan.schema.meta import ObjectId
from tests.unit import users as command
from tests.unit.outputs import in_one_file

JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a-x", "namespace": "ml"}, "spec": {}}
PVC = {**JOB, "apiVersion": "v1", "kind": "PersistentVolumeClaim"}
NOT_KEPT = {**PVC, "metadata": {"name": "a-x", "annotations": {labels.SYNC_OPTIONS: labels.REMOVE}}}


def made(kind: str, spec: Json | None = None, *, version: str = "v1", **rest: Any) -> Json:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, **({"spec": spec} if spec else {}), **rest}


def run(*arguments: str) -> Result:
    return command.run("diff", *arguments)


# Fields.


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 3}}, ["b.c: 2 → 3"]),
        ({"a": None}, {}, ["a: null → nothing"]),
        ({}, {"a": {"b": 1}}, ['a: nothing → {"b": 1}']),
        ([{"name": "x", "v": 1}, {"name": "y"}], [{"name": "y"}, {"name": "x", "v": 2}], ["x.v: 1 → 2"]),
        ([{"name": "x"}], [{"name": "x"}, {"name": "y"}], ['y: nothing → {"name": "y"}']),
        ([1, 2], [1, 3], ["[1]: 2 → 3"]),
        ([1, 2], [1], [": [1, 2] → [1]"]),
        ({"c.json": '{"a": 1}'}, {"c.json": '{"a": 2}'}, ['["c.json"].a: 1 → 2']),
        ({"c": "{broken"}, {"c": "{other"}, ["c: {broken → {other"]),
        ({"c": "a\nb"}, {"c": "a"}, ['c: "a\\nb" → a']),
        ({"c": ""}, {"c": "a"}, ['c: "" → a']),
    ],
)
def test_fields(before: Any, after: Any, lines: list[str]) -> None:
    assert [field_line(each) for each in differences(before, after)] == lines


def test_long_values_are_cut_to_where_they_differ() -> None:
    same = "x" * 500
    line = field_line(Field(("a",), f"{same}1", f"{same}2"))
    assert line == f"a: …{'x' * 10}1 → …{'x' * 10}2"
    assert len(field_line(Field(("a",), Nothing.HERE, same))) <= LONGEST + 20


# Risks.


def role(*rules: Json) -> Json:
    return made("Role", version="rbac.authorization.k8s.io/v1", rules=list(rules))


GET = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
NAMED = {**GET, "resourceNames": ["p"]}
RUNNING = made("Job", {"template": {"metadata": {"labels": {"app": "runs", "part": "a"}}, "spec": {}}})
NETWORK = made("NetworkPolicy", {"podSelector": {"matchLabels": {"app": "runs"}}})


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        (PVC, None, [Danger.DATA]),
        (None, PVC, []),
        (PVC, {**PVC, "metadata": {"name": "b", "namespace": "ml"}}, [Danger.DATA]),
        (
            made("PersistentVolume", {"persistentVolumeReclaimPolicy": "Retain"}),
            made("PersistentVolume", {"persistentVolumeReclaimPolicy": "Delete"}),
            [Danger.DATA],
        ),
        (
            made("PersistentVolumeClaim", {"resources": {"requests": {"storage": "2Gi"}}}),
            made("PersistentVolumeClaim", {"resources": {"requests": {"storage": "1Gi"}}}),
            [Danger.DATA],
        ),
        (made("Namespace"), None, [Danger.DATA]),
        (made("CustomResourceDefinition"), None, [Danger.DATA]),
        (None, made("SampleJob", {"type": "rmr", "rmrOptions": {"paths": ["x"]}}), [Danger.DATA]),
        (None, made("SampleJob", {"type": "rmr", "terminate": True}), []),
        (
            made("SampleJob", {"type": "rmr", "terminate": True, "rmrOptions": {"paths": ["x"]}}),
            made("SampleJob", {"type": "rmr", "rmrOptions": {"paths": ["x"]}}),
            [Danger.DATA],
        ),
        (None, made("SampleJob", {"type": "sync", "syncOptions": {"delete-dst": True}}), [Danger.DATA]),
        (None, made("DatasetTask", {"remove": {"paths": ["x"]}}), [Danger.DATA]),
        (None, made("DatasetTask", {"remove": {"paths": ["x"]}, "suspend": True}), []),
        (None, made("DatasetTask", {"sync": {"delete": True}}), [Danger.DATA]),
        (None, made("DatasetTask", {"sync": {}}), []),
        (None, made("Dataset", {"refresh": {"schedule": "@daily", "delete": True}}), [Danger.DATA]),
        (None, made("Dataset", {"refresh": {"schedule": "@daily"}}), []),
        (NOT_KEPT, None, [Danger.DATA]),
        ({**NOT_KEPT, "spec": {"volumeName": "ml.a"}}, None, []),
        (None, JOB, [Danger.RUN]),
        (None, {**JOB, "spec": {"suspend": True}}, []),
        (JOB, None, [Danger.RUN]),
        (JOB, {**JOB, "metadata": {"name": "a-y", "namespace": "ml"}}, [Danger.RUN]),
        ({**JOB, "spec": {"suspend": True}}, JOB, [Danger.RUN]),
        (JOB, {**JOB, "spec": {"suspend": True}}, [Danger.RUN]),
        (JOB, {**JOB, "spec": {"backoffLimit": 2}}, []),
        (None, made("CronJob", {"schedule": "@daily"}), [Danger.RUN]),
        (None, made("CronJob", {"schedule": "@daily", "suspend": True}), []),
        (
            made("CronJob", {"schedule": "@daily", "suspend": True}),
            made("CronJob", {"schedule": "@daily"}),
            [Danger.RUN],
        ),
        (
            made("StatefulSet", {"template": {"a": 1}}, version="apps/v1"),
            made("StatefulSet", {"template": {"a": 2}}, version="apps/v1"),
            [Danger.RUN],
        ),
        (
            made("StatefulSet", {"serviceName": "a"}, version="apps/v1"),
            made("StatefulSet", {"serviceName": "b"}, version="apps/v1"),
            [Danger.IMMUTABLE],
        ),
        (None, role(NAMED), [Danger.RIGHTS]),
        (role(NAMED), role(GET), [Danger.RIGHTS]),
        (role(GET), role(NAMED), []),
        (role({**GET, "verbs": ["*"]}), role(GET), []),
        (role(GET), role(GET, {**GET, "verbs": ["list"]}), [Danger.RIGHTS]),
        (made("RoleBinding", subjects=[{"name": "x"}]), made("RoleBinding", subjects=[{"name": "y"}]), [Danger.RIGHTS]),
        (
            made("AppProject", {"destinations": []}),
            made("AppProject", {"destinations": [{"namespace": "*"}]}),
            [Danger.RIGHTS],
        ),
        (made("CustomResourceDefinition"), made("CustomResourceDefinition", {"x": 1}), [Danger.CRD]),
        (NETWORK, None, [Danger.SECURITY]),
        ({**NETWORK, "spec": {"podSelector": {"matchLabels": {"app": "gone"}}}}, None, []),
        (None, NETWORK, []),
        (made("StatefulSet", version="apps/v1"), None, [Danger.RUN]),
        (made("CronJob", {"schedule": "@daily"}), None, [Danger.RUN]),
        (
            None,
            made("CronJob", {"suspend": True, "jobTemplate": {"spec": {"template": {"spec": {"hostNetwork": True}}}}}),
            [Danger.SECURITY],
        ),
        (
            None,
            made(
                "Deployment",
                {
                    "template": {
                        "spec": {
                            "volumes": [{"hostPath": {"path": "/"}}],
                            "containers": [
                                {"securityContext": {"privileged": True, "capabilities": {"add": ["SYS_ADMIN"]}}}
                            ],
                        }
                    }
                },
            ),
            [Danger.SECURITY] * 3,
        ),
    ],
)
def test_risks(before: Json | None, after: Json | None, found: list[Danger]) -> None:
    pair = Pair("a.yaml", "specs/a.yaml", before, after)
    assert [risk.danger for risk in risks(pair, Pods.of([RUNNING]))] == found


def roles(**images: str) -> Json:
    """A JobSet with one pod for each role, whose only container is `main`."""
    jobs = [
        {
            "name": name,
            "template": {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}},
        }
        for name, image in images.items()
    ]
    return made("JobSet", {"replicatedJobs": jobs}, version="jobset.x-k8s.io/v1alpha2")


def test_image_of_one_role_that_becomes_that_of_another_is_a_risk() -> None:
    pair = Pair("a.yaml", "specs/a.yaml", roles(master="new", worker="old"), roles(master="new", worker="new"))
    assert [risk.text for risk in risks(pair, Pods()) if risk.danger is Danger.IMAGE] == [
        "Container main of replicatedJobs.worker runs the image new."
    ]


def test_image_of_a_container_that_is_added_is_a_risk() -> None:
    before = made("Job", {"template": {"spec": {"containers": [{"name": "main", "image": "a"}]}}})
    added = made("Job", {"template": {"spec": {"containers": [{"name": "main", "image": "a"}, {"name": "b"}]}}})
    (risk,) = [each for each in risks(Pair("a", "a", before, added), Pods()) if each.danger is Danger.IMAGE]
    assert risk.text.startswith("Container b runs the image ")


def test_rights_on_one_resource_are_reported_together() -> None:
    after = role({**GET, "verbs": ["get", "list"]}, {**NAMED, "resources": ["pods/log"]}, {**NAMED, "verbs": ["list"]})
    (risk,) = risks(Pair("a.yaml", "specs/a.yaml", None, after), Pods())
    assert risk.text == "New rights: get, list pods of any name; list pods p; get pods/log p."


def test_rights_on_the_new_run_are_none_but_others_are() -> None:
    """A Role names the Job that its gate opens, and both names end in a hash."""

    def version(suffix: str, *verbs: str) -> list[OutputFile]:
        job = {**JOB, "metadata": {"name": f"a-{suffix}", "namespace": "ml"}}
        rule = {"apiGroups": ["batch"], "resources": ["jobs"], "resourceNames": [f"a-{suffix}"], "verbs": list(verbs)}
        gate = {**role(rule), "metadata": {"name": f"gate-{suffix}", "namespace": "ml"}}
        objects = (("job-a.yaml", Manifest(job, "a")), ("role-gate.yaml", Manifest(gate, "gate")))
        return [OutputFile(path, manifest, None, "specs/a.yaml") for path, manifest in objects]

    before = {output.path: render(output) for output in version("aaaaaaaa", "get")}
    found = {change.id.kind: change.risks for change in compare(before, version("bbbbbbbb", "get"))}
    assert [risk.danger for risk in found["Job"]] == [Danger.RUN]
    assert found["Role"] == ()
    found = {change.id.kind: change.risks for change in compare(before, version("bbbbbbbb", "get", "delete"))}
    assert [risk.text for risk in found["Role"]] == ["New rights: delete jobs.batch a-bbbbbbbb."]


@pytest.mark.parametrize(
    "body",
    [
        RUNNING,
        made("CronJob", {"jobTemplate": {"spec": RUNNING["spec"]}}),
        made("JobSet", {"replicatedJobs": [{"name": "a", "template": {"spec": RUNNING["spec"]}}]}),
    ],
)
def test_pods_are_found_in_every_workload(body: Json) -> None:
    body = {**body, "metadata": {"name": "a", "namespace": "ml"}}
    assert Pods.of([body]).any_has("ml", {"app": "runs"})
    assert not Pods.of([body]).any_has("other", {"app": "runs"})
    assert not Pods.of([body]).any_has("ml", {"app": "gone"})


# Markdown.


def change(number: int, *dangers: Danger, field: int = 0) -> Change:
    own = ObjectId("", "ConfigMap", "ml", f"c{number}")
    fields = (Field(("data", "x"), field, field + 1),)
    return Change(
        Action.CHANGED, f"c{number}.yaml", "specs/a.yaml", own, own, fields, tuple(Risk(d, "…") for d in dangers)
    )


def test_equal_changes_are_reported_once() -> None:
    groups = grouped([change(1), change(2), change(3, field=7), change(4)])
    assert [(each.first.id.name, len(each.others)) for each in groups] == [("c1", 2), ("c3", 0)]


@pytest.mark.parametrize("limit", [1_000, 3_000, 60_000])
def test_a_comment_does_not_exceed_its_limit(limit: int) -> None:
    changes = [change(i, *([Danger.RUN] if i < 20 else []), field=i) for i in range(400)]
    text = comment(changes, limit=limit)
    assert len(text) <= limit
    assert text.count("<details>") == text.count("</details>")
    assert ("left out here" in text) == (limit < 60_000)


def test_names_cannot_control_a_comment() -> None:
    own = ObjectId("", "ConfigMap", "ml", "c")
    odd = Field(("data", "x"), "`</details>`", "**y**")
    text = comment(
        [Change(Action.CHANGED, "c.yaml", "specs/`a`.yaml", own, own, (odd,), (Risk(Danger.RUN, "<b>*x*"),))]
    )
    assert "- `data.x: '</details>' → **y**`\n" in text.replace("  ", "")
    assert "\\<b\\>\\*x\\*" in text
    assert "specs/'a'.yaml" in text


HOSTILE = "\x1b[31m\n# @all #1 https://a.b www.a.b \u202e `x`"


def hostile() -> Change:
    """Return a change whose strings all come from a file that anyone could have written."""
    old, new = (ObjectId("", HOSTILE, HOSTILE, f"{HOSTILE}{end}") for end in "ab")
    fields = (Field((HOSTILE, HOSTILE), HOSTILE, {HOSTILE: HOSTILE}),)
    return Change(Action.REPLACED, "c.yaml", HOSTILE, old, new, fields, (Risk(Danger.DATA, HOSTILE),))


def test_hostile_strings_do_not_control_the_terminal() -> None:
    text = "\n".join(line.plain for line in lines([hostile(), hostile()]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert [line for line in text.splitlines() if line.startswith("#")] == []


def test_hostile_strings_do_not_control_a_comment() -> None:
    text = comment([hostile()])
    assert not {"\x1b", "\u202e"} & set(text)
    assert [line for line in text.splitlines() if line.startswith("# ")] == []
    outside = re.sub("`[^`\n]*`", "", text)
    for words in ("@all", "#1", "https://", "www.a"):
        assert words not in outside


def test_many_alike_are_counted_by_kind() -> None:
    def removed(kind: str, number: int, *found: Risk) -> Change:
        own = ObjectId("", kind, "ml", f"{kind}-{number}")
        return Change(Action.REMOVED, f"{kind}-{number}.yaml", "specs/a.yaml", own, None, (), found)

    ended = Risk(Danger.RUN, "It is ended.")
    changes = [
        *(removed("Job", i, ended) for i in range(3)),
        *(removed(kind, i) for kind in ("Role", "ConfigMap") for i in range(4)),
    ]
    assert [line.plain for line in lines(changes)] == [
        "removed Job ml/Job-0  specs/a.yaml",
        "  run: It is ended.",
        "  and the same in Job ml/Job-1, Job ml/Job-2",
        "removed Role ml/Role-0  specs/a.yaml",
        "  and 4 ConfigMaps, 3 Roles of this file",
        "11 objects: 11 removed",
    ]


# The command.


def git(*words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(["git", *identity, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in Git, in a folder below its root, with its output committed."""
    folder = tmp_path_factory.mktemp("first")
    with chdir(folder):
        starter.write(Path("data"), legacy=True)
        with Path("data/stowplan.yaml").open("a") as platform:
            platform.write('images: {registry: registry.example.com/ml, tag: "1"}\n')
        assert command.run("synth", "data").exit_code == 0
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a"]):
            git(*words)
    return folder


@pytest.fixture
def repo(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `first`, whose root the test is in."""
    monkeypatch.chdir(shutil.copytree(first, tmp_path / "root"))
    return tmp_path / "root/data"


def edit(repo: Path) -> None:
    for name, before, after in (
        ("mnist-train", "replicas: 2", "replicas: 3"),
        ("mnist", "cacheSize: 2048", "cacheSize: 4096"),
    ):
        spec = repo / f"specs/{name}.yaml"
        spec.write_text(spec.read_text().replace(before, after))


def test_nothing_changed(repo: Path) -> None:
    assert run("data").output == "The output does not change\n"
    assert run("data", "--base", "HEAD").output == "The output does not change\n"
    assert json.loads(run("data", "--format", "json").output) == {"changes": []}


def test_an_edit(repo: Path, snapshot: SnapshotAssertion) -> None:
    edit(repo)
    done = run("data")
    assert done.exit_code == 0
    assert done.output == snapshot
    assert run("data", "--base", "HEAD").output == done.output


def test_an_edit_whose_output_is_committed_too(repo: Path) -> None:
    """As in a pull request: the working tree is up to date, and the base is another commit."""
    edit(repo)
    before = run("data").output
    assert command.run("synth", "data").exit_code == 0
    assert run("data").output == "The output does not change\n"
    assert run("data", "--base", "HEAD").output == before


def test_a_base_with_the_inventory_of_0_1_0(repo: Path) -> None:
    in_one_file(repo / "out")
    git("add", "-A")
    git("commit", "-qm", "0.1.0")
    assert command.run("synth", "data").exit_code == 0
    assert (repo / "out/_inventory").is_dir()
    assert run("data", "--base", "HEAD").output == "The output does not change\n"
    edit(repo)
    before = run("data").output
    assert command.run("synth", "data").exit_code == 0
    assert run("data", "--base", "HEAD").output == before


def test_an_edit_as_a_comment(repo: Path, snapshot: SnapshotAssertion) -> None:
    edit(repo)
    assert run("data", "--format", "markdown").output == snapshot


def test_a_removed_spec(repo: Path) -> None:
    (repo / "specs/mnist-train.yaml").unlink()
    changes = json.loads(run("data", "--format", "json", "--base", "HEAD").output)["changes"]
    assert {each["action"] for each in changes} == {"removed"}
    assert changes[0]["kind"] == "Job"
    assert [each["danger"] for each in changes[0]["risks"]] == ["run"]


def test_a_commit_without_output(repo: Path) -> None:
    tree = git("hash-object", "-t", "tree", "-w", "/dev/null")
    empty = git("commit-tree", "-m", "x", tree)
    changes = json.loads(run("data", "--format", "json", "--base", empty).output)["changes"]
    assert {each["action"] for each in changes} == {"created"}


@pytest.mark.parametrize("revision", ["nothing", "--all", ""])
def test_a_missing_commit(repo: Path, revision: str) -> None:
    done = run("data", f"--base={revision}")
    assert done.exit_code == (0 if revision == "" else 2)
    assert "Traceback" not in done.output


def test_a_folder_without_git(tmp_path: Path) -> None:
    starter.write(tmp_path)
    done = run(str(tmp_path), "--base", "HEAD")
    assert done.exit_code == 2
    assert "not a git repository" in done.output


def test_specs_with_errors(repo: Path) -> None:
    (repo / "specs/mnist.yaml").write_text("kind: SampleSet")
    done = run("data")
    assert done.exit_code == 1
    assert "SP208" in done.output
