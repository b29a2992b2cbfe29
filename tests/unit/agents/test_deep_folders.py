"""Folders nested in a claim deeper than Python's stack are no fault of an agent: they are copied, or told of."""

import hashlib
from collections.abc import Callable

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.tasks import paths
from stowplan.agents.cache.drivers.juicefs.tasks.destination import ClaimDestination
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks
from stowplan.agents.cache.drivers.work import TaskOutcome, TaskWork
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.git.program import leftovers
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode
from tests.hostile import deep
from tests.hostile.copies import COPIES, FILES, Copy


def test_a_copy_of_deep_folders() -> None:
    with deep.place() as folder, COPIES["claim"](folder) as copy:
        deep.nest(folder / "source/data")
        done = copy.download()
        assert isinstance(done, str), done
        assert deep.depth(copy.cube.data) == deep.DEEP


@pytest.mark.parametrize("engine", ["store", "hub"])
def test_an_upload_of_deep_folders(engine: str) -> None:
    with deep.place() as folder, COPIES[engine](folder) as copy:
        deep.nest(copy.cube.data)
        copy.fill()
        done = copy.upload()
        assert isinstance(done, str), done


@pytest.mark.parametrize(
    ("engine", "run", "nested"),
    [("claim", Copy.download, "source/data"), ("store", Copy.upload, "claim/data"), ("hub", Copy.upload, "claim/data")],
)
def test_folders_that_are_too_deep(engine: str, run: Callable[[Copy], str | AttemptError], nested: str) -> None:
    with deep.place() as folder, COPIES[engine](folder) as copy:
        deep.nest(folder / nested, deep.FAR, deep.LONG_NAME)
        done = run(copy)
        assert isinstance(done, AttemptError)
        assert (done.code, done.reason) == (ExitCode.CONFLICT, "UnsafeKeys")


def test_a_copy_whose_state_is_deep() -> None:
    with deep.place() as folder, COPIES["claim"](folder) as copy:
        deep.nest(copy.cube.state / "parts")
        done = copy.download()
        assert isinstance(done, str), done
        assert copy.copied == FILES


def test_a_warmup_of_deep_folders() -> None:
    with deep.place() as claim:
        deep.nest(claim)
        ((path, _),) = paths.files(claim, ())
        assert path.count("/") == deep.DEEP


def test_a_sync_into_deep_folders() -> None:
    with deep.place() as claim:
        deep.nest(claim / "data/near")
        config = SyncConfig.model_validate(
            {
                "task": "sync",
                "target": {"kind": "SampleSet", "namespace": "ml", "name": "a"},
                "mountPath": str(claim),
                "root": "data",
                "destination": "/data/",
                "source": "s3://bucket/",
                "flags": {},
                "reportPhase": False,
                "completes": True,
                "dataset": "a",
            }
        )
        work = TaskWork(TaskOutcome(None, None, task="sync"), Stop(), Log(), Redactor(()))
        place = ClaimDestination(config, str(claim), work)
        place.past(Marks(place.state, None))
        deep.nest(claim / "data/far", deep.FAR, deep.LONG_NAME)
        with pytest.raises(AttemptError) as raised:
            place.past(Marks(place.state, None))
        assert (raised.value.code, raised.value.reason) == (ExitCode.CONFLICT, "UnsafeKeys")


def test_locks_in_a_deep_repository() -> None:
    with deep.place() as claim:
        git = claim / "model/.git"
        deep.nest(git / "refs")
        for name in ("index.lock", "refs/x.lock", "refs/d/d/y.lock", "objects/pack/tmp_pack_1", "objects/ab/tmp_obj_1"):
            (git / name).parent.mkdir(parents=True, exist_ok=True)
            (git / name).touch()
        digest = hashlib.sha256(b"").hexdigest()
        kept = ("HEAD", "refs/heads", f"lfs/incomplete/{digest}.part", "objects/ab/cd", "objects/pack/x.pack")
        for name in kept:
            (git / name).parent.mkdir(parents=True, exist_ok=True)
            (git / name).touch()
        (git / "lfs/incomplete/other").touch()
        with ClaimFolder.at(git) as inside:
            leftovers.clear(inside)
        files = (each for part in ("*", "lfs/*/*", "objects/*/*", "refs/*", "refs/d/d/*") for each in git.glob(part))
        assert {str(each.relative_to(git)) for each in files if each.is_file()} == set(kept)
