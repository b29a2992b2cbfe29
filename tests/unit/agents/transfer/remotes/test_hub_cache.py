"""The cache of hf-xet on its way between a claim and the directory of the library."""

from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.huggingface.hub import xet
from stowplan.agents.transfer.remotes.huggingface.hub.xet import remembered


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A state directory, and the directory of the library."""
    found = tmp_path / "state", tmp_path / "scratch"
    for each in found:
        each.mkdir()
    return found


def copied(places: tuple[Path, Path], stop: Stop) -> set[str]:
    """The names that the library finds. It then writes one more."""
    state, scratch = places
    with remembered(ClaimFolder.at(state), scratch, stop, Log()):
        names = {each.name for each in (scratch / "xet").rglob("*")}
        (scratch / "xet").mkdir(exist_ok=True)
        (scratch / "xet/new").write_text("new")
    return names


def test_links_and_what_is_too_much_stay(places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xet, "LARGEST", 10)
    state, _ = places
    (state / "xet/inner").mkdir(parents=True)
    (state / "xet/inner/a").write_text("12345")
    (state / "xet/link").symlink_to("/etc/passwd")
    (state / "xet/z").write_text("x" * 6)
    assert copied(places, Stop()) == {"inner", "a"}
    assert {each.name for each in (state / "xet").rglob("*")} == {"inner", "a", "new"}


def test_a_link_in_the_place_of_the_cache_is_not_followed(places: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").write_text("x")
    (places[0] / "xet").symlink_to(tmp_path / "other")
    (places[1] / "xet").mkdir()
    assert copied(places, Stop()) == set()
    assert [each.name for each in (tmp_path / "other").iterdir()] == ["file"]
    assert (places[0] / "xet/new").read_text() == "new"
    assert not (places[0] / "xet").is_symlink()


def test_after_a_signal_there_is_no_time_for_it(places: tuple[Path, Path]) -> None:
    stop = Stop()
    stop.set("signal")
    assert copied(places, stop) == set()
    assert not (places[0] / "xet/new").exists()
