"""A Dataset in a claim, filled from a real Git server by the agent with its compiled input."""

import json
from dataclasses import replace
from pathlib import Path

from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.agents.marker import COMPLETE_FILE
from tests.agents.compiled_dataset import CompiledDataset, compiled
from tests.agents.transfer.git.agent import tree
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import TOKEN, USERNAME, Forge
from tests.agents.transfer.reports import Reports


def filled(forge: Forge, folder: Path) -> CompiledDataset:
    spec = {
        "source": {"git": {"url": "https://git.example.com/model.git", "ref": "main", "secretRef": {"name": "git"}}},
        "volume": {"claim": {"name": "samples"}},
        "refresh": {"schedule": "0 3 * * *"},
    }
    (folder / "claim").mkdir()
    variables = {"URL": f"{forge.url}/model.git", "USERNAME": USERNAME, "TOKEN": f"{TOKEN}\n"}
    return CompiledDataset(compiled(spec), folder, folder / "claim", variables)


def test_a_repository_lies_in_a_directory_with_its_name(forge: Forge, writer: Author, tmp_path: Path) -> None:
    jobs = filled(forge, tmp_path)
    commit = writer.commit({"prompts/a.txt": b"one"})
    done = jobs.sync()
    assert done.code == 0, done.output
    dataset = jobs.place / "ml" / "corpus"
    assert tree(dataset / "model") == {"prompts/a.txt": b"one"}
    assert look(dataset, "synced").state == "ready"
    assert json.loads((dataset / COMPLETE_FILE).read_text())["revision"] == commit


def test_the_status_of_the_dataset_names_the_commit(
    forge: Forge, writer: Author, reports: Reports, tmp_path: Path
) -> None:
    jobs = filled(forge, tmp_path)
    commit = writer.commit({"a.txt": b"one"})
    told = replace(jobs, variables={**jobs.variables, **reports.environment}, arguments=[reports.argument])
    done = told.sync()
    assert done.code == 0, done.output
    applied = json.loads(reports.patches[-1])
    assert (applied["apiVersion"], applied["kind"]) == ("stowplan.dev/v1alpha1", "Dataset")
    assert applied["metadata"]["name"] == "corpus"
    assert reports.status["revision"] == commit
    (attempt,) = reports.status["attempts"]
    assert (attempt["task"], attempt["state"], attempt["run"]) == ("sync", "succeeded", jobs.run_of_sync)
    # A reporter derives the phase.
    assert "phase" not in reports.status


def test_a_refresh_takes_the_newest_commit(forge: Forge, writer: Author, tmp_path: Path) -> None:
    jobs = filled(forge, tmp_path)
    writer.commit({"a.txt": b"one"})
    assert jobs.sync().code == 0
    commit = writer.commit({"a.txt": b"two", "b.txt": b"new"})
    assert look(jobs.place / "ml" / "corpus", "synced", commit).state == "waiting"
    done = jobs.refresh(29000000)
    assert done.code == 0, done.output
    assert tree(jobs.place / "ml" / "corpus" / "model") == {"a.txt": b"two", "b.txt": b"new"}
    assert look(jobs.place / "ml" / "corpus", "synced", commit).state == "ready"
