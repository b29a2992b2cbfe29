"""Finding files in the output folder."""

from pathlib import Path

from stowplan.compiler.output.folder import OutputFolder, scan


def made(root: Path, *paths: str) -> OutputFolder:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    return scan(root)


def test_hidden_folders_are_looked_into_but_not_that_of_git(tmp_path: Path) -> None:
    """`.git` is at the top if the output folder is a separate repository."""
    tree = made(tmp_path, ".git/config", "ml/.h/a.yaml", "ml/b/.git/config", ".hidden", ".h/a")
    assert tree.files == {"ml/.h/a.yaml", "ml/b/.git/config", ".hidden", ".h/a"}
    assert tree.folders == {".git", ".h", "ml", "ml/.h", "ml/b", "ml/b/.git"}


def test_empty_folders(tmp_path: Path) -> None:
    (tmp_path / "ml/a/b").mkdir(parents=True)
    (tmp_path / ".git/refs").mkdir(parents=True)
    assert made(tmp_path, "ml/c.yaml").empty == {"ml/a/b"}


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out/ml").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.yaml").write_text("")
    (tmp_path / "out/ml/folder").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "out/ml/.file").symlink_to(tmp_path / "elsewhere/a.yaml")
    tree = scan(tmp_path / "out")
    assert tree.files == frozenset()
    assert tree.others == {"ml/folder", "ml/.file"}
