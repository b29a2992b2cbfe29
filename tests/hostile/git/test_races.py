"""A second process swaps what is in Git's own directory for links and pipes while the agent works with a clone."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import of_any
from stowplan.agents.transfer.remotes.git.checkout_commit import CommitCheckout
from stowplan.agents.transfer.remotes.git.commit import contents
from stowplan.agents.transfer.remotes.git.lfs.objects import LfsContent
from stowplan.agents.transfer.remotes.git.lfs.upload import LfsUpload
from stowplan.agents.transfer.remotes.git.program import idle
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import object_key
from stowplan.agents.transfer.remotes.git.remote import find
from stowplan.agents.transfer.remotes.git.repository import Repository
from tests.agents.transfer.git.agent import Cube
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import Forge
from tests.hostile.git.attempt import prepared_git
from tests.hostile.swapping import AT_ONCE, KINDS, READABLE, SECRET, Outside, cleaned, made
from tests.hostile.within import within
from tests.tier import RACES

FILES = {f"{number}.big": b"%d" % number * 3000 for number in range(4)}
OIDS = [hashlib.sha256(data).hexdigest() for data in FILES.values()]
NAMES = [
    name
    for oid in OIDS
    for end in (oid, f"{oid}.part")
    for name in (end, f"{oid[2:4]}/{end}", f"{oid[:2]}/{oid[2:4]}/{end}", f"incomplete/{end}")
]
ATTRIBUTES = b"*.big filter=lfs diff=lfs merge=lfs -text\n"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe makes Git wait forever."""
    monkeypatch.setattr(idle, "IDLE_SECONDS", 5.0)


@pytest.fixture
def clone(cube: Cube, writer: Author) -> Cube:
    """One with files of Git LFS."""
    writer.commit({".gitattributes": ATTRIBUTES, **writer.lfs(FILES)})
    ended = cube.download()
    assert ended.code == 0, ended.output
    return cube


def places(cube: Cube) -> list[Path]:
    lfs, path = cube.clone / ".git/lfs", Path(object_key(OIDS[0]))
    inner = ("incomplete", "objects", *(f"objects/{each}" for each in (path.parts[0], path.parent, path)))
    return [lfs, *(lfs / each for each in inner), lfs / f"incomplete/{OIDS[0]}.part", lfs.parent / "stowplan-lfs"]


def done(cube: Cube, work: Callable[[Repository], None]) -> bool:
    """Whether an attempt has done its work with a clone; it must say why, if it has not."""
    with prepared_git(cube) as git:
        try:
            work(Repository(cube.clone, git))
        except Exception as error:
            # Raises it again, if it is a fault.
            of_any(error, "the test")
            return False
    return True


def fetch(repository: Repository) -> None:
    """Bring all objects."""
    repository.look()
    commit = repository.commit("HEAD")
    assert commit
    read = contents.read(repository, commit, lfs=True)
    content = LfsContent(repository, repository.git.settings.address, commit, read)
    content.missing()
    content.fetch()
    content.remember()


@pytest.mark.parametrize("first", range(0, RACES, AT_ONCE))
def test_downloads(clone: Cube, tmp_path: Path, first: int) -> None:
    outside = Outside(tmp_path / "outside", NAMES)
    before, lfs = outside.seen(), clone.clone / ".git/lfs"
    for number in range(first, first + AT_ONCE):
        shutil.rmtree(lfs)
        lfs.mkdir()
        favourites = places(clone)
        with outside.swapped(number, KINDS, favourites[number % len(favourites)], lfs):
            within(lambda: done(clone, fetch))
        assert outside.seen() == before, number
        assert not [path for path, data in made(lfs).items() if SECRET in data], number
        cleaned(lfs, lfs.parent)
        assert within(lambda: done(clone, fetch)), number
        assert {each for path in made(lfs) if (each := Path(path).name) in OIDS} == set(OIDS)


def send(repository: Repository) -> None:
    """Send all objects."""
    repository.look()
    commit = repository.commit("HEAD")
    assert commit
    LfsUpload(repository, "refs/heads/main", None, commit).run()


@pytest.mark.parametrize("first", range(0, RACES, AT_ONCE))
def test_uploads(clone: Cube, forge: Forge, tmp_path: Path, first: int) -> None:
    outside = Outside(tmp_path / "outside", NAMES)
    before, lfs, whole = outside.seen(), clone.clone / ".git/lfs", tmp_path / "whole"
    lfs.rename(whole)
    for number in range(first, first + AT_ONCE):
        shutil.copytree(whole, lfs)
        for each in forge.objects().iterdir():
            each.unlink()
        favourites = places(clone)
        with outside.swapped(number, READABLE, favourites[number % len(favourites)], lfs):
            within(lambda: done(clone, send))
        assert outside.seen() == before, number
        assert SECRET not in b"".join(each.read_bytes() for each in forge.objects().iterdir()), number
        shutil.rmtree(lfs)


FOLDERS = ("", "refs", "info", "hooks", "objects", "objects/info", "objects/pack")
GIT_FILES = ("config", "HEAD", "index", "packed-refs", "refs/heads/main", "info/attributes", "objects/info/alternates")
"""Of Git's own directory."""


def refresh(repository: Repository) -> None:
    """Bring a clone to the newest commit."""
    address = repository.git.settings.address
    repository.adopt(address)
    wanted = find(repository.git, address, None)
    assert wanted
    CommitCheckout(repository, address, None).run(wanted, None, fresh=False)


@pytest.mark.parametrize("first", range(0, RACES, AT_ONCE))
def test_refreshes(clone: Cube, writer: Author, tmp_path: Path, first: int) -> None:
    proof, whole = tmp_path / "proof", tmp_path / "whole"
    outside = Outside(tmp_path / "outside", [*NAMES, *GIT_FILES])
    # Whatever is taken from there is an order to run a program.
    orders = f"[core]\n\tfsmonitor = touch {proof}; false\n".encode() + SECRET
    for path in outside.folder.rglob("*"):
        if path.is_file():
            path.write_bytes(orders)
    before = outside.seen()
    shutil.move(clone.clone, whole)
    writer.commit({"a": b"new", **writer.lfs({"0.big": b"new" * 3000})})
    for number in range(first, first + AT_ONCE):
        shutil.copytree(whole, clone.clone, symlinks=True)
        inside = clone.clone / ".git"
        favourites = [*(inside / name for name in (*FOLDERS, *GIT_FILES)), *places(clone)]
        with outside.swapped(number, READABLE, favourites[number % len(favourites)], inside):
            within(lambda: done(clone, refresh))
        assert not proof.exists(), number
        assert outside.seen() == before, number
        assert not [path for path, data in made(clone.clone).items() if SECRET in data], number
        shutil.rmtree(clone.clone)
