"""Without its inventory, no committed output is deleted, replaced or run again silently."""

import subprocess
from pathlib import Path

import pytest

from stowplan.compiler.output.inventory import NAME
from tests.unit.outputs import files
from tests.unit.users import SPEC, codes, diagnostics_of, laid_out, run


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose output is up to date."""
    monkeypatch.chdir(laid_out(tmp_path))
    assert run("synth").exit_code == 0
    return tmp_path


def spoil(repo: Path, how: str) -> None:
    inventory = repo / "out" / NAME
    match how:
        case "missing":
            inventory.unlink()
        case "empty":
            inventory.write_bytes(b"")
        case "merged badly":
            first, second, *rest = inventory.read_bytes().splitlines(keepends=True)
            inventory.write_bytes(b"".join((first, b"<<<<<<< HEAD\n", second, b"=======\n", *rest)))


CODES = {"missing": "SP516", "empty": "SP511", "merged badly": "SP511"}


@pytest.mark.parametrize("how", CODES)
@pytest.mark.parametrize("check", [[], ["--check"]], ids=["synth", "check"])
def test_a_lost_inventory_is_an_error_with_a_remedy(repo: Path, how: str, check: list[str]) -> None:
    spoil(repo, how)
    before = files(repo / "out")
    (found,) = diagnostics_of("synth", *check)
    assert (found["code"], found["severity"], found["file"]) == (CODES[how], "error", f"out/{NAME}")
    assert "git checkout" in found["hint"]
    assert files(repo / "out") == before


@pytest.mark.parametrize("how", CODES)
def test_the_inventory_is_renewed_on_request(repo: Path, how: str) -> None:
    before = files(repo / "out")
    spoil(repo, how)
    assert codes("synth", "--recompile", "all") == [f"warning {CODES[how]}"]
    assert files(repo / "out") == before


@pytest.mark.parametrize("how", CODES)
def test_the_guards_read_the_files_where_the_inventory_does_not_list_them(repo: Path, how: str) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC.replace("    name: imagenet", "    name: other"))
    spoil(repo, how)
    assert set(codes("synth")) == {f"error {CODES[how]}", "error SP540", "warning SP542"}


@pytest.mark.parametrize("how", CODES)
def test_a_renewal_accepts_new_runs_but_no_moved_data(repo: Path, how: str) -> None:
    (repo / "specs/imagenet.yaml").write_text(SPEC.replace("    name: imagenet", "    name: other"))
    spoil(repo, how)
    assert set(codes("synth", "--recompile", "all")) == {f"warning {CODES[how]}", "error SP540"}


@pytest.mark.parametrize("how", CODES)
def test_data_that_leaves_the_output_is_reported(repo: Path, how: str) -> None:
    (repo / "specs/imagenet.yaml").unlink()
    spoil(repo, how)
    assert "warning SP541" in codes("synth")


@pytest.mark.parametrize("content", ["", "kind: ConfigMap\n"])
def test_an_output_without_stowplan_files_needs_no_inventory(repo: Path, content: str) -> None:
    for path in sorted((repo / "out").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (repo / "out/kept.yaml").write_text(content)
    assert codes("synth") == []


def test_a_first_run_that_was_killed_is_repaired(repo: Path) -> None:
    inventory = repo / "out" / NAME
    inventory.rename(inventory.with_name(".stowplan-tmp-inventory"))
    assert codes("synth") == []
    assert inventory.exists()


def test_an_inventory_of_a_newer_stowplan_is_never_overwritten(repo: Path) -> None:
    inventory = repo / "out" / NAME
    inventory.write_bytes(inventory.read_bytes().replace(b"inventory/v1", b"inventory/v2"))
    before = files(repo / "out")
    assert codes("synth", "--recompile", "all") == ["error SP511"]
    assert files(repo / "out") == before


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def commit(message: str) -> None:
    git("add", "-A")
    git("commit", "-m", message)


def test_an_inventory_in_conflict_is_repaired_as_the_hint_says(repo: Path) -> None:
    git("init", "-b", "main")
    commit("one")
    for branch in ("left", "right"):
        git("checkout", "-b", branch, "main")
        spec = SPEC.replace("name: imagenet\nspec", f"name: {branch}\nspec").replace("/data/", f"/data/{branch}/")
        (repo / f"specs/{branch}.yaml").write_text(spec)
        assert run("synth").exit_code == 0
        commit(branch)
    assert "CONFLICT" in git("merge", "left")
    assert codes("synth") == ["error SP511"]
    git("checkout", "--theirs", f"out/{NAME}")
    result = run("synth")
    assert (result.exit_code, "starts when synced" in result.stdout) == (0, False)
    assert result.stdout.splitlines()[0] == "0 errors, 0 warnings, 0 infos"
    assert run("synth", "--check").exit_code == 0
