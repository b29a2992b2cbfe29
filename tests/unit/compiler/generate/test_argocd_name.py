"""The `argocd.name` and `argocd.path` that `stowplan init` writes."""

import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from typer.testing import CliRunner

from stowplan.compiler.cli import app
from stowplan.compiler.generate.starter.argocd_name import LIMIT, derived
from stowplan.library.values.names import is_dns_label


def git(folder: Path, *arguments: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("url", "path", "name"),
    [
        ("https://git.example.com/ml/data.git", ".", "data"),
        ("https://user:secret@git.example.com/ml/data/", ".", "data"),
        ("git@git.example.com:data.git", "vision", "data-vision"),
        ("/srv/git/Data_Sets.git", "teams/Vision 2", "data-sets-teams-vision-2"),
        ("", ".", "my-repo"),
        ("", "a/b", "my-repo-a-b"),
    ],
)
def test_in_a_work_tree_it_is_that_of_the_remote_or_the_top_folder_with_the_path(
    tmp_path: Path, url: str, path: str, name: str
) -> None:
    top = tmp_path / "My.Repo"
    git(top, "init", "--quiet")
    if url:
        git(top, "remote", "add", "mirror", "https://git.example.com/other.git")
        git(top, "remote", "add", "origin", url)
    assert derived(top / path) == name


def test_of_other_remotes_than_origin_it_is_the_first(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "upstream", "https://git.example.com/ml/first.git")
    git(tmp_path, "remote", "add", "fork", "https://git.example.com/ml/second.git")
    assert derived(tmp_path) == "first"


def test_outside_of_a_work_tree_it_is_that_of_the_folder_as_a_short_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is long, has other letters, or would be a number in YAML; what it begins can still be made longer."""
    monkeypatch.chdir(tmp_path)
    for name in ("Été", "数据", "--", "123", "null", "a" * 60, "a" * 29 + "-b", "a.-.b"):
        assert CliRunner().invoke(app, ["init", "--", name]).exit_code == 0
        platform = YAML(typ="safe").load(tmp_path / name / "stowplan.yaml")
        given = platform["argocd"]["name"]
        assert given == derived(tmp_path / name)
        assert isinstance(given, str)
        assert is_dns_label(given)
        assert len(given) <= LIMIT


@pytest.mark.parametrize(("place", "path"), [(".", "out"), ("teams/Vision: 2", "teams/Vision: 2/out")])
def test_the_path_is_that_of_the_output_in_the_work_tree(tmp_path: Path, place: str, path: str) -> None:
    git(tmp_path, "init", "--quiet")
    assert CliRunner().invoke(app, ["init", str(tmp_path / place)]).exit_code == 0
    platform = tmp_path / place / "stowplan.yaml"
    assert YAML(typ="safe").load(platform)["argocd"]["path"] == path
    platform.write_text(platform.read_text().replace("  # repoURL:", "  repoURL:"))
    found = CliRunner().invoke(app, ["synth", str(tmp_path / place)])
    assert found.exit_code == 0
    assert "SP814" not in found.output


def test_the_argo_cd_objects_of_the_starter_begin_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(app, ["init", "data"]).exit_code == 0
    platform = tmp_path / "data/stowplan.yaml"
    platform.write_text(platform.read_text().replace("  # repoURL:", "  repoURL:"))
    assert CliRunner().invoke(app, ["synth", "data"]).exit_code == 0
    names = {each.stem for each in (tmp_path / "data/out/argocd").glob("*.yaml")}
    assert {"appproject-data", "application-data-crds", "application-data-ns-ml"} <= names
