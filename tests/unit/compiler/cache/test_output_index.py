"""An output file counts as unchanged only if it cannot have changed since it was hashed."""

import os
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from stowplan.compiler.cache import output_index
from stowplan.compiler.cache.output_index import OutputIndex, indexed
from stowplan.compiler.output.folder import scan

HOUR = 3_600_000_000_000


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "ml").mkdir()
    (tmp_path / "ml/a.yaml").write_text("one")
    return tmp_path


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were hashed."""
    found: list[str] = []

    def counted(place: str) -> str:
        found.append(Path(place).name)
        return sha256(Path(place).read_bytes()).hexdigest()

    monkeypatch.setattr(output_index, "_sha256", counted)
    return found


def settled(out: Path) -> OutputIndex:
    """An index that was made long after all files were written."""
    found = OutputIndex().look(scan(out))
    return found._replace(at=found.at + HOUR)


def test_file_that_looks_the_same_is_not_hashed_again(out: Path, hashed: list[str]) -> None:
    before = settled(out)
    hashed.clear()
    assert before.look(scan(out)).files == before.files
    assert hashed == []


def test_file_that_was_hashed_just_after_it_changed_is_hashed_again(out: Path, hashed: list[str]) -> None:
    before = OutputIndex().look(scan(out))
    assert not before.settled
    before.look(scan(out))
    assert hashed == ["a.yaml", "a.yaml"]


def same_size_and_times(path: Path) -> None:
    before = path.stat()
    path.write_text("two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def other_file_with_the_same_times(path: Path) -> None:
    before = path.stat()
    path.with_name("b").write_text("two")
    path.with_name("b").replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("change", [same_size_and_times, other_file_with_the_same_times])
def test_change_that_keeps_size_and_times_is_seen(out: Path, change: Callable[[Path], None]) -> None:
    before = settled(out)
    change(out / "ml/a.yaml")
    after = before.look(scan(out))
    assert after.files["ml/a.yaml"].sha256 == sha256(b"two").hexdigest()
    assert after.digest(scan(out)) != before.digest(scan(out))


def test_digest_covers_names_and_empty_folders(out: Path) -> None:
    digests = {settled(out).digest(scan(out))}
    (out / "ml/b").mkdir()
    digests.add(settled(out).digest(scan(out)))
    (out / "ml/b/link").symlink_to(out)
    digests.add(settled(out).digest(scan(out)))
    (out / "ml/a.yaml").rename(out / "ml/c.yaml")
    digests.add(settled(out).digest(scan(out)))
    assert len(digests) == 4


def test_files_that_a_command_wrote_are_not_hashed(out: Path, hashed: list[str]) -> None:
    began = time.time_ns()
    (out / "ml/a.yaml").write_text("two")
    (out / "ml/other.yaml").write_text("other")
    digests = {"ml/a.yaml": sha256(b"two").hexdigest(), "ml/gone.yaml": sha256(b"").hexdigest()}
    after = indexed(scan(out), digests, began)
    assert after.files["ml/a.yaml"].sha256 == digests["ml/a.yaml"]
    assert (after.at, hashed, sorted(after.files)) == (began, ["other.yaml"], ["ml/a.yaml", "ml/other.yaml"])


@pytest.mark.parametrize("name", ["a", "same"])
def test_file_that_somebody_changed_after_a_command_wrote_is_hashed_by_the_next_one(out: Path, name: str) -> None:
    began = time.time_ns() + HOUR
    digests = {f"ml/{name}.yaml": sha256(name.encode()).hexdigest() for name in ("a", "same")}
    (out / "ml/same.yaml").write_text("same")
    (out / f"ml/{name}.yaml").write_text("not")
    changed = began + 1
    os.utime(out / f"ml/{name}.yaml", ns=(changed, changed))
    after = indexed(scan(out), digests, began)
    assert after.look(scan(out)).files[f"ml/{name}.yaml"].sha256 == sha256(b"not").hexdigest()
