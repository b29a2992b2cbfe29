"""A program that swaps what is in folders while an agent works there, until it is killed.

    python -m tests.hostile.swapper SEED OUTSIDE KINDS FAVOURITE FOLDER...

For a moment a link, a pipe or another name of a file gets the place of a random file or folder below one of the
folders, or of one that the agent may be about to make. Half of the time it is FAVOURITE, whatever is there. Links lead
to a file or folder of OUTSIDE, or to nothing in it.
"""

import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

NAMES = (
    *("parts", "clones", "children", "lfs", "incomplete", "objects", "stowplan-lfs", "stowplan-probe"),
    *(
        "known.jsonl",
        "listing.jsonl",
        "progress.json",
        "files.jsonl",
        "complete.json",
        "data",
        "a",
        "sub",
        "b",
        "large",
    ),
)
"""Names that agents give to their files, or to the files that they copy."""

ASIDE = ".aside-"
"""Beginning of the names of what is swapped meanwhile, in the folder around all of it."""

LONGEST_SECONDS = 0.003
"""How long something is swapped at the most. An attempt takes a tenth of a second and more."""


class Swapper:
    """Swaps in one of the folders at a time; `outside` has a folder and a file that the links lead to."""

    def __init__(self, seed: int, outside: Path, kinds: list[str], favourite: Path, folders: list[Path]) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - attacks of a test
        self.outside, self.favourite, self.folders = outside, favourite, folders
        self.makers: dict[str, Callable[[Path], None]] = {
            "folder": lambda path: path.symlink_to(outside / "folder"),
            "file": lambda path: path.symlink_to(outside / "file"),
            "nothing": lambda path: path.symlink_to(outside / "nothing"),
            "pipe": os.mkfifo,
            "name": lambda path: path.hardlink_to(outside / "file"),
        }
        self.kinds, self.number = kinds, 0

    def swap(self) -> None:
        """Put something in the place of something else, and take it away again."""
        root = self.chance.choice(self.folders)
        place = self.favourite if self.chance.random() < 0.5 else self.place(root)
        if place.parent.resolve() != place.parent:
            # The agent has moved a link there.
            return
        self.number += 1
        aside, was_folder = root / f"{ASIDE}{self.number}", place.is_dir()
        with suppress(OSError):
            place.rename(aside)
        with suppress(OSError):
            self.makers["folder" if was_folder else self.chance.choice(self.kinds)](place)
        self.wait()
        with suppress(OSError):
            # What the agent has put there stays, unless it is a file.
            place.unlink()
        with suppress(OSError):
            aside.rename(place)
        self.wait()

    def wait(self) -> None:
        time.sleep(self.chance.choice((0, self.chance.uniform(0, LONGEST_SECONDS))))

    def place(self, root: Path) -> Path:
        """Below a folder, at any depth."""
        here = root
        while True:
            folders = []
            with suppress(OSError):
                folders = [each for each in here.iterdir() if not each.name.startswith(ASIDE)]
            if not folders or self.chance.random() < 0.2:
                return here / self.name()
            here = self.chance.choice(folders)
            if here.is_symlink() or not here.is_dir() or self.chance.random() < 0.3:
                return here

    def name(self) -> str:
        return self.chance.choice(NAMES) + self.chance.choice(("", ".tmp"))


def main() -> None:
    seed, outside, kinds, favourite, *folders = sys.argv[1:]
    swapper = Swapper(int(seed), Path(outside), kinds.split(","), Path(favourite), list(map(Path, folders)))
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    while True:
        swapper.swap()


if __name__ == "__main__":
    main()
