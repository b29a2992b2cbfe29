"""A second process swaps files and folders for links and pipes at any moment of a copy.

Whatever it does, the copy writes, reads and deletes nothing outside of the claim, waits for nothing, and ends well or
with a sentence. Once nobody disturbs it, it ends well.
"""

import shutil
from pathlib import Path

import pytest

from tests.hostile.copies import COPIES, FILES
from tests.hostile.swapping import AT_ONCE, KINDS, READABLE, SECRET, Outside, cleaned, made
from tests.hostile.within import within
from tests.tier import RACES

ATTEMPTS = 3
"""Attempts of one race."""


@pytest.mark.parametrize("first", range(0, RACES, AT_ONCE))
@pytest.mark.parametrize("engine", COPIES)
def test_downloads(tmp_path: Path, engine: str, first: int) -> None:
    outside = Outside(tmp_path / "outside")
    before = outside.seen()
    for number in range(first, first + AT_ONCE):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        with COPIES[engine](folder) as copy:
            folders = [copy.cube.claim, *([folder / "source"] if engine == "claim" else [])]
            favourite = copy.places[number % len(copy.places)]
            with outside.swapped(number, READABLE if engine == "claim" else KINDS, favourite, *folders):
                for _ in range(ATTEMPTS):
                    within(copy.download)
            assert outside.seen() == before, number
            assert not [path for path, data in made(copy.cube.claim).items() if SECRET in data], number
            cleaned(*folders)
            copy.renew()
            done = within(copy.download)
            assert (copy.copied, isinstance(done, str)) == (FILES, True), (number, done)
        shutil.rmtree(folder)


@pytest.mark.parametrize("first", range(0, RACES, AT_ONCE))
@pytest.mark.parametrize("engine", ["store", "hub"])
def test_uploads(tmp_path: Path, engine: str, first: int) -> None:
    outside = Outside(tmp_path / "outside")
    before = outside.seen()
    for number in range(first, first + AT_ONCE):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        with COPIES[engine](folder) as copy:
            copy.fill()
            with outside.swapped(number, READABLE, copy.places[-number % len(copy.places)], copy.cube.claim):
                for _ in range(ATTEMPTS):
                    within(copy.upload)
            assert outside.seen() == before, number
            assert SECRET not in b"".join(copy.sent()), number
            cleaned(copy.cube.claim)
            copy.fill()
            done = within(copy.upload)
            assert isinstance(done, str), (number, done)
            assert sorted(copy.sent()) >= sorted(FILES.values())
        shutil.rmtree(folder)
