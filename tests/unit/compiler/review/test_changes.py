"""The review of real changes in a Git repository, as the commands `report` and `diff` show it."""

import re
import shutil
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest

from stowplan.compiler.cli.review.changes import compared
from stowplan.compiler.cli.review.reviewing import reviewed
from stowplan.compiler.environments.target import Target
from stowplan.compiler.repository.layout import Repository
from stowplan.compiler.repository.load import Checkout
from stowplan.compiler.review.model import ChangeKind, Review, RunFate
from stowplan.compiler.review.page.render import render
from stowplan.compiler.review.runs import MOST_REASONS
from tests.unit.users import PLATFORM, codes, laid_out, run

DATASET = """\
apiVersion: stowplan.dev/v1alpha1
kind: Dataset
metadata: {name: c4, namespace: ml}
spec:
  source: {huggingface: {repo: acme/c4}}
  volume: {claim: {name: samples}}
"""
TRAINING = """\
apiVersion: stowplan.dev/v1alpha1
kind: Training
metadata: {name: sft, namespace: ml}
spec:
  framework: torch
  image: registry.example.com/ml/sft:1
  command: [torchrun, train.py]
  numNodes: 2
  resourcesPerNode: {limits: {nvidia.com/gpu: 4}}
  datasets: [{name: c4, mountPath: /c4}]
"""
SPEC = Path("specs/imagenet.yaml")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a dataset and a training run, committed with its output on the branch `main`."""
    folder = laid_out(tmp_path_factory.mktemp("first"), f"{DATASET}---\n{TRAINING}", PLATFORM)
    with chdir(folder):
        git("init", "-q", "-b", "main")
        committed()
    return folder


@pytest.fixture(autouse=True)
def repo(first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of `first`, which the test is in."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(shutil.copytree(first, tmp_path / "repo"))


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.email=a@example.com", "-c", "user.name=A", *arguments], check=True)


def committed() -> None:
    found = run("synth")
    assert found.exit_code == 0, found.output
    git("add", "-A")
    git("commit", "-qm", "All")


def edited(before: str, after: str) -> None:
    text = SPEC.read_text()
    assert before in text
    SPEC.write_text(text.replace(before, after))


def review() -> Review:
    checkout = Checkout(Repository(Path()))
    return reviewed(compared(checkout, Path("out"), "HEAD", [Target.whole(checkout.platform)]), Path(), "HEAD")


def fates(found: Review) -> list[tuple[RunFate, str, str]]:
    return [(each.fate, f"{each.spec.kind} {each.spec.name}", each.part) for each in found.verdict.runs]


def test_without_a_change_nothing_is_at_stake() -> None:
    found = review()
    assert (found.verdict.runs, found.verdict.data, found.verdict.rights, found.objects) == ((), (), (), ())
    assert {node.state for node in found.nodes} == {ChangeKind.UNCHANGED}
    assert (
        "No run starts or ends; no data is at risk; no rights are added" in run("report", "--format", "markdown").stdout
    )


def test_the_page_names_the_commit_that_it_compares_with() -> None:
    found = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    git("checkout", "-qb", "feature")
    edited("ml/sft:1", "ml/sft:2")
    committed()
    assert run("report", "--base", "main", "-o", "page.html").exit_code == 0
    assert f"compared with <code>main ({found[:12]})</code>" in Path("page.html").read_text()
    assert run("report", "--base", found, "-o", "page.html").exit_code == 0
    assert f"compared with <code>{found[:12]}</code>" in Path("page.html").read_text()


def test_an_edit_of_a_dataset_replaces_its_sync_and_says_which_field() -> None:
    edited("acme/c4", "acme/c5")
    found = review()
    (sync,) = [each for each in found.verdict.runs if each.part == "sync"]
    assert sync.fate is RunFate.REPLACED
    assert (sync.place.file, sync.place.line) == ("specs/imagenet.yaml", 1)
    assert any("acme/c4" in each and "acme/c5" in each for each in sync.reasons)
    assert "Dataset" in {str(each.part).capitalize() for each in found.nodes if each.state is not ChangeKind.UNCHANGED}


def test_a_changed_value_names_the_line_of_the_spec_that_it_comes_from() -> None:
    edited("ml/sft:1", "ml/sft:2")
    leaves = [leaf for each in review().objects for leaf in each.leaves if leaf.after.endswith("ml/sft:2")]
    assert leaves
    assert {origin.place.line for leaf in leaves for origin in leaf.origins if origin.place} == {13}


def test_numbers_before_and_after() -> None:
    edited("numNodes: 2", "numNodes: 3")
    found = {each.title: (each.before, each.after, each.more) for each in review().figures}
    assert found["nvidia.com/gpu of all jobs at once"] == ("8", "12", True)
    assert found["hours of nvidia.com/gpu at most"] == ("no limit", "no limit", None)
    edited("numNodes: 3", "numNodes: 3\n  activeDeadlineSeconds: 5400")
    found = {each.title: (each.before, each.after, each.more) for each in review().figures}
    assert found["hours of nvidia.com/gpu at most"] == ("no limit", "18", False)


def effects() -> list[str]:
    """What the first run does that a change is about."""
    return list(review().verdict.runs[0].effects)


def test_a_training_run_says_what_it_asks_for_or_frees() -> None:
    edited("ml/sft:1", "ml/sft:2")
    assert effects()[0] == "It asks for 8 nvidia.com/gpu, without a limit of time."
    edited("numNodes: 2", "numNodes: 3\n  activeDeadlineSeconds: 5400")
    asked = "It asks for 12 nvidia.com/gpu, 18 hours of them at most."
    assert effects()[0] == asked
    assert asked.removesuffix(".") in run("report", "--base", "HEAD", "--format", "markdown").stdout
    assert f"<li>{asked}</li>" in render(review())
    SPEC.write_text(DATASET)
    assert effects()[0] == "It frees 8 nvidia.com/gpu."
    SPEC.write_text(f"{DATASET.replace('acme/c4', 'acme/c5')}---\n{TRAINING}")
    assert [each for each in effects() if "frees" in each or "asks" in each] == []


def test_a_run_says_what_it_waits_for_however_long_its_name_is() -> None:
    name = "sft-" + "of-a-large-model-" * 4 + "x"
    edited("name: sft,", f"name: {name},")
    edited("mountPath: /c4", "mountPath: /c4, wait: {until: synced}")
    (line,) = [line for step in review().steps for line in step.lines if line.startswith("training of")]
    assert re.fullmatch(rf"training of .*{name}, once .* is ready", line)


def test_a_training_run_in_the_place_of_another_says_whether_it_goes_on_from_its_checkpoints() -> None:
    anew = "It begins anew, unless its program keeps checkpoints of its own."
    edited("ml/sft:1", "ml/sft:2")
    assert anew in effects()
    edited("  numNodes: 2", "  checkpoints: {claim: {name: models}, lineage: sft}\n  numNodes: 2")
    committed()
    edited("ml/sft:2", "ml/sft:3")
    assert anew not in effects()
    assert [each for each in effects() if each.startswith("It continues lineage sft with another image")]


def test_a_new_job_of_a_run_that_starts_again_is_named() -> None:
    volume = "volume: {juicefs: {secretRef: {name: volume}}}\n  cache: {nodes: NODES}"
    text = DATASET.replace("volume: {claim: {name: samples}}", volume)
    SPEC.write_text(text.replace("NODES", "1"))
    committed()
    SPEC.write_text(text.replace("NODES", "2").replace("acme/c4", "acme/c5"))
    (warmup,) = [each for each in review().verdict.runs if each.part == "warmup"]
    assert not [each for each in warmup.effects if each.startswith("It starts")]
    assert [each for each in warmup.effects if re.fullmatch(r"Job ml/c4-warmup-1-\w+: It starts .*", each)]


def test_many_changed_fields_hide_no_effect() -> None:
    more = "".join(f"  - {{name: V{index}, value: a}}\n" for index in range(9))
    edited("  numNodes: 2", f"  env:\n{more}  numNodes: 3")
    edited("  command:", "  shmSize: 1Gi\n  args: [a]\n  activeDeadlineSeconds: 60\n  command:")
    (found,) = review().verdict.runs
    assert len(found.reasons) == MOST_REASONS + 1
    assert found.reasons[-1] == "and 1 more field"
    assert [each for each in found.effects if "is ended" in each]
    text = run("report", "--base", "HEAD", "--format", "markdown").stdout
    assert "is ended, and a new one starts" in text[: text.index("| | before")]


def test_a_renamed_training_is_a_run_that_ends_and_another_that_starts() -> None:
    edited("name: sft,", "name: sft-2,")
    assert fates(review()) == [
        (RunFate.ENDS, "Training sft", "training"),
        (RunFate.STARTS, "Training sft-2", "training"),
    ]


def test_a_renamed_dataset_leaves_its_data_behind() -> None:
    edited("{name: c4,", "{name: c4-en,")
    found = review()
    assert (RunFate.ENDS, "Dataset c4", "sync") in fates(found)
    assert (RunFate.STARTS, "Dataset c4-en", "sync") in fates(found)
    assert found.verdict.data == (
        "Dataset ml/c4: Its data stays in the claim; nothing manages or deletes it any more.",
    )
    assert found.verdict.data[0].endswith(found.hazards[0].risk.text)
    states = {node.title: node.state for node in found.nodes if node.part == "dataset"}
    assert states == {"Dataset c4": ChangeKind.REMOVED, "Dataset c4-en": ChangeKind.CREATED}


def test_a_removed_dataset_is_about_data() -> None:
    SPEC.write_text(TRAINING.replace("  datasets: [{name: c4, mountPath: /c4}]\n", ""))
    found = review()
    assert (RunFate.ENDS, "Dataset c4", "sync") in fates(found)
    assert any("c4" in each for each in found.verdict.data)
    stopped = run("diff", "--base", "HEAD", "--fail-on", "data-loss")
    assert stopped.exit_code == 1
    assert "data-loss: " in stopped.stderr


def test_a_secret_that_nothing_used_before_is_new_and_its_keys_are_named() -> None:
    edited("repo: acme/c4", "repo: acme/c4, secretRef: {name: hub}")
    (secret,) = [each for each in review().secrets if each.name == "hub"]
    assert secret.new
    assert not secret.defined
    assert "ml/hub" in run("report", "--base", "HEAD", "--format", "markdown").stdout
    committed()
    assert not [each for each in review().secrets if each.new]


def test_a_first_dataset_adds_rights_and_a_gate_fails_on_them() -> None:
    SPEC.write_text(TRAINING.replace("  datasets: [{name: c4, mountPath: /c4}]\n", ""))
    committed()
    assert run("diff", "--base", "HEAD", "--fail-on", "security,data-loss,rerun,rights").exit_code == 0
    SPEC.write_text(f"{DATASET}---\n{TRAINING}")
    assert review().verdict.rights
    assert run("report", "--base", "HEAD", "--format", "markdown", "--fail-on", "rights").exit_code == 1
    assert run("diff", "--base", "HEAD", "--fail-on", "data-loss").exit_code == 0


def test_a_rerun_stops_and_an_unknown_word_is_wrong_usage() -> None:
    edited("ml/sft:1", "ml/sft:2")
    stopped = run("diff", "--base", "HEAD", "--fail-on", "rerun")
    assert stopped.exit_code == 1
    assert "rerun: " in stopped.stderr
    assert run("diff", "--base", "HEAD", "--fail-on", "security,rights").exit_code == 0
    assert run("diff", "--base", "HEAD", "--fail-on", "reruns").exit_code == 2


def test_the_page_is_the_same_to_the_byte_each_time() -> None:
    edited("acme/c4", "acme/c5")
    pages = []
    for name in ("a.html", "b.html"):
        assert run("report", "--base", "HEAD", "-o", name).exit_code == 0
        pages.append(Path(name).read_bytes())
    assert pages[0] == pages[1]
    assert str(Path.cwd()).encode() not in pages[0]


def test_warnings_of_runs_are_the_same_after_main_has_moved_on() -> None:
    git("checkout", "-qb", "feature")
    SPEC.write_text(f"{SPEC.read_text()}---\n{DATASET.replace('name: c4,', 'name: own,').replace('samples', 'own')}")
    committed()
    before = codes("synth", "--check", "--base", "main")
    git("checkout", "-q", "main")
    edited("ml/sft:1", "ml/sft:2")
    committed()
    git("checkout", "-q", "feature")
    assert codes("synth", "--check", "--base", "main") == before
    assert not [each for each in before if "SP542" in each]
    text = run("diff", "--base", "main").stdout
    assert "sft" not in text, "what main alone changed is no change of this branch"
