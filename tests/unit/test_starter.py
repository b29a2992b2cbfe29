"""`stowplan init`: what it writes compiles as it is, and nothing that is there is touched."""

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner, Result

from stowplan.compiler import starter
from stowplan.compiler.cli import app

REPOSITORY = Path(__file__).parents[2]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_what_it_writes_compiles_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("init", "mine").exit_code == 0
    done = run("synth", "mine", "--format", "json")
    assert done.exit_code == 0
    found = json.loads(done.output)["diagnostics"]
    assert [each["code"] for each in found if each["severity"] != "info"] == []
    assert run("synth", "mine", "--check").exit_code == 0
    names = {path.parent.name for path in Path("mine/out").glob("ml/*/*.yaml")}
    assert names == {"sampleset-mnist", "paddlejob-mnist-train", "reporter"}


def test_training_waits_for_its_samples(tmp_path: Path) -> None:
    """Or a newcomer's first job would train on what has been copied in its first second."""
    starter.write(tmp_path)
    assert run("synth", str(tmp_path)).exit_code == 0
    (path,) = tmp_path.glob("out/ml/paddlejob-mnist-train/job-*.yaml")
    pod = YAML(typ="safe").load(path)["spec"]["template"]["spec"]
    assert [each["name"] for each in pod.get("initContainers", ())] == ["wait-dataset"]


def test_in_the_present_folder_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "made stowplan.yaml\n" in run("init").output
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(starter.files())


def test_files_that_are_there_stay(tmp_path: Path) -> None:
    (tmp_path / "stowplan.yaml").write_text("")
    done = run("init", str(tmp_path))
    assert f"kept {tmp_path}/stowplan.yaml" in done.output
    assert (tmp_path / "stowplan.yaml").read_text() == ""
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "made " not in run("init", str(tmp_path)).output
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_links_are_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/stowplan.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert run("init", str(tmp_path / "mine")).exit_code == 0
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("a file")
    done = run("init", str(tmp_path / "mine"))
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_modelines_lead_to_schemas(tmp_path: Path) -> None:
    starter.write(tmp_path)
    for path in (tmp_path / "stowplan.yaml", *(tmp_path / "specs").glob("*.yaml")):
        first = path.read_text().splitlines()[0]
        assert first.startswith("# yaml-language-server: $schema=")
        schema = path.parent / first.partition("=")[2]
        assert json.loads(schema.read_text())["title"] == ("Platform" if path.name == "stowplan.yaml" else "Stowplan")


@pytest.mark.parametrize("path", [name for name in starter.files() if name.endswith((".yml", ".yaml"))])
def test_yaml_is_sound_and_complete(path: str) -> None:
    text = starter.files()[path]
    assert YAML(typ="safe").load(text)
    assert "${version}" not in text
    assert "$$" not in text


def test_hooks_run_commands_that_there_are() -> None:
    hooks = YAML(typ="safe").load(REPOSITORY / ".pre-commit-hooks.yaml")
    assert [each["id"] for each in hooks] == ["stowplan-validate", "stowplan-synth-check"]
    for each in hooks:
        program, *arguments = each["entry"].split()
        assert program == "stowplan"
        assert run(*arguments, "--help").exit_code == 0
