"""The programs come from the assets, else from the cache, else from Go; otherwise a reason is given."""

import shutil
from pathlib import Path

import pytest

from tests.cluster.binaries import Found, Missing, cache_folder, find, obtain
from tests.cluster.tools import ETCD, KUBERNETES, KUEUE, Tool

KUBE = KUBERNETES["1.37"]


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No assets, an empty cache and a folder of programs that holds nothing but `nice`."""
    programs = tmp_path / "programs"
    programs.mkdir()
    nice = shutil.which("nice")
    assert nice is not None
    (programs / "nice").symlink_to(nice)
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(programs))
    return programs


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def _assets(folder: Path, tool: Tool, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    for name in tool.programs:
        _script(folder / name, f"echo Kubernetes {version}")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(folder))


def test_assets_of_the_same_minor_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assets(tmp_path / "assets", KUBE, "v1.37.9", monkeypatch)
    found = obtain(KUBE)
    assert isinstance(found, Found)
    assert (found.origin, found.version) == ("assets", "v1.37.9")


def test_assets_of_another_minor_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assets(tmp_path / "assets", KUBE, "v1.36.9", monkeypatch)
    assert find(KUBE) is None


def test_assets_without_all_programs_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assets(tmp_path / "assets", KUBE, "v1.37.9", monkeypatch)
    (tmp_path / "assets" / "kube-scheduler").unlink()
    assert find(KUBE) is None


def test_without_go_there_is_a_reason() -> None:
    missing = obtain(ETCD)
    assert isinstance(missing, Missing)
    assert "no Go" in missing.reason


def test_failed_build_gives_the_words_of_go_and_leaves_nothing(empty_machine: Path) -> None:
    _script(empty_machine / "go", "echo no such module >&2; exit 1")
    missing = obtain(ETCD)
    assert isinstance(missing, Missing)
    assert "no such module" in missing.reason
    assert find(ETCD) is None


def test_second_time_nothing_is_built(empty_machine: Path) -> None:
    _script(empty_machine / "go", 'while [ "$1" != -o ]; do shift; done; echo program > "$2"')
    built = obtain(ETCD)
    (empty_machine / "go").unlink()
    assert isinstance(built, Found)
    assert obtain(ETCD) == built
    assert built.paths["etcd"].read_text(encoding="utf-8") == "program\n"
    assert {path.name for path in cache_folder().iterdir()} == {ETCD.key, "etcd.lock"}


def test_files_of_the_module_are_copied_beside_its_program(empty_machine: Path, tmp_path: Path) -> None:
    crds, webhooks = KUEUE.files
    for name in (f"{crds}/a.yaml", webhooks):
        path = tmp_path / "module" / name
        path.parent.mkdir(parents=True)
        path.write_text(name, encoding="utf-8")
    build = 'while [ "$1" != -o ]; do shift; done; echo program > "$2"'
    _script(empty_machine / "go", f'if [ "$1" = list ]; then echo {tmp_path / "module"}; else {build}; fi')
    built = obtain(KUEUE)
    assert isinstance(built, Found)
    folder = built.paths["kueue"].parent
    assert (folder / crds / "a.yaml").read_text(encoding="utf-8") == f"{crds}/a.yaml"
    assert (folder / webhooks).is_file()


def test_files_of_modules_are_never_among_the_assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _assets(tmp_path / "assets", KUEUE, "v0.19.2", monkeypatch)
    assert find(KUEUE) is None
