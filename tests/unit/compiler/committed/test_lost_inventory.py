"""Without its inventory, no committed output is deleted, replaced or run again silently."""

import shutil
from pathlib import Path

import pytest

from tests.unit.outputs import files, in_one_file
from tests.unit.users import SPEC, codes, diagnostics_of, laid_out, run


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose output is up to date."""
    monkeypatch.chdir(laid_out(tmp_path))
    assert run("synth").exit_code == 0
    return tmp_path


LIST = "_inventory/default/sampleset-imagenet.jsonl"


def spoil(repo: Path, how: str) -> str:
    """Spoil the inventory; return the path of what the user is to restore."""
    out = repo / "out"
    inventory = in_one_file(out) if "0.1.0" in how else out / LIST
    match how.partition(" of")[0]:
        case "missing":
            inventory.unlink() if "0.1.0" in how else shutil.rmtree(out / "_inventory")
            return "out/_inventory"
        case "empty":
            inventory.write_bytes(b"")
        case "merged badly":
            first, second, *rest = inventory.read_bytes().splitlines(keepends=True)
            inventory.write_bytes(b"".join((first, b"<<<<<<< HEAD\n", second, b"=======\n", *rest)))
    return inventory.relative_to(repo).as_posix()


CODES = {
    "missing": "SP516",
    "empty": "SP511",
    "merged badly": "SP511",
    "missing of 0.1.0": "SP516",
    "empty of 0.1.0": "SP511",
    "merged badly of 0.1.0": "SP511",
}


@pytest.mark.parametrize("how", CODES)
def test_a_lost_inventory_is_an_error_until_it_is_renewed_on_request(repo: Path, how: str) -> None:
    """Meanwhile the guards read the files where the inventory does not list them."""
    spec, before = repo / "specs/imagenet.yaml", files(repo / "out")
    file = spoil(repo, how)
    spoilt = files(repo / "out")
    for check in ([], ["--check"]):
        (found,) = diagnostics_of("synth", *check)
        assert (found["code"], found["severity"], found["file"]) == (CODES[how], "error", file)
        assert f"git checkout {file}" in found["hint"]
    spec.write_text(SPEC.replace("    name: imagenet", "    name: other"))
    assert set(codes("synth")) == {f"error {CODES[how]}", "error SP540", "warning SP542"}
    assert set(codes("synth", "--recompile", "all")) == {f"warning {CODES[how]}", "error SP540"}, "no moved data"
    spec.unlink()
    assert "warning SP541" in codes("synth")
    assert files(repo / "out") == spoilt
    spec.write_text(SPEC)
    assert codes("synth", "--recompile", "all") == [f"warning {CODES[how]}"]
    assert files(repo / "out") == before


@pytest.mark.parametrize("content", ["", "kind: ConfigMap\n"])
def test_an_output_without_stowplan_files_needs_no_inventory(repo: Path, content: str) -> None:
    for path in sorted((repo / "out").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (repo / "out/kept.yaml").write_text(content)
    assert codes("synth") == ["warning SP537"]


@pytest.mark.parametrize("check", [[], ["--check"]], ids=["synth", "check"])
def test_the_lost_inventory_of_one_spec_is_an_error_at_its_file(repo: Path, check: list[str]) -> None:
    before = files(repo / "out")
    (repo / "out" / LIST).unlink()
    (found,) = diagnostics_of("synth", *check)
    assert (found["code"], found["severity"], found["file"]) == ("SP516", "error", f"out/{LIST}")
    assert f"git checkout out/{LIST}" in found["hint"]
    assert "stowplan synth --recompile 'SampleSet default/imagenet'" in found["hint"]
    assert codes("synth", "--recompile", "SampleSet default/imagenet") == ["warning SP516"]
    assert files(repo / "out") == before


def test_a_first_run_that_was_killed_is_repaired(repo: Path) -> None:
    before = files(repo / "out")
    in_one_file(repo / "out").rename(repo / "out/.stowplan-tmp-inventory")
    assert codes("synth") == []
    assert files(repo / "out") == before


def test_an_inventory_of_a_newer_stowplan_is_never_overwritten(repo: Path) -> None:
    inventory = repo / "out" / LIST
    inventory.write_bytes(inventory.read_bytes().replace(b"inventory/v1", b"inventory/v2"))
    before = files(repo / "out")
    assert codes("synth", "--recompile", "all") == ["error SP511"]
    assert files(repo / "out") == before
