"""A Dataset in a claim, filled from an object storage by a real `juicefs sync`, as its compiled Jobs run it."""

import json
import os
import random
import stat
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.attempt.lock import LockFile, held
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.sync import LEFTOVERS
from stowplan.agents.runtime.log import Log
from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, LOCK_FILE, STATE_DIRECTORY, marker_path
from tests.agents.cache.conftest import NewDisk
from tests.agents.cache.task_agent import files
from tests.agents.cache.test_task_secrets import SPY
from tests.agents.compiled_dataset import AS_USER, USER, CompiledDataset, compiled, compiled_task
from tests.agents.kills import Kills
from tests.agents.transfer.faults import leads_out, proxied
from tests.agents.transfer.reports import ACCOUNT_TOKEN, listening
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage, new_bucket
from tests.tier import KILLS

OBJECTS = {"train/a": b"a", "train/deep/er/b": b"b" * 3_000_000, "train/\u00e4 #": b"odd"}
SAMPLES = {key.removeprefix("train/"): data for key, data in OBJECTS.items()}
SECRETS = (ACCESS_KEY, SECRET_KEY)


def spec_of(storage: Storage, endpoint: str = "") -> dict[str, Any]:
    host = (endpoint or storage.endpoint).partition("://")[2]
    source = {"uri": f"minio://{host}/{storage.bucket}/train", "secretRef": {"name": "bucket"}}
    return {
        "source": {"storage": source},
        "volume": {"claim": {"name": "samples"}},
        "refresh": {"schedule": "0 3 * * *"},
    }


class Filled:
    """A Dataset in a claim, and the bucket that it is copied from."""

    def __init__(self, storage: Storage, folder: Path, juicefs: Path, endpoint: str = "", **platform: Any) -> None:
        self.storage, self.folder, self.claim = storage, folder, folder / "claim"
        self.spec = spec_of(storage, endpoint)
        self.claim.mkdir(exist_ok=True)
        # What the kubelet does for the `fsGroup` of the compiled pod.
        os.chown(self.claim, 0, USER)
        self.claim.chmod(0o2775)
        (folder / "pods").mkdir(exist_ok=True)
        folder.chmod(0o755)
        (folder / "pods").chmod(0o755)
        variables = {
            "PATH": f"{juicefs.parent}:{os.environ['PATH']}",
            "STOWPLAN_SOURCE_ACCESS_KEY": ACCESS_KEY,
            "STOWPLAN_SOURCE_SECRET_KEY": f"{SECRET_KEY}\n",
        }
        self.jobs = CompiledDataset(
            compiled(self.spec, **platform), folder / "pods", self.claim, variables, prefix=AS_USER
        )

    def with_variables(self, **variables: str) -> CompiledDataset:
        return replace(self.jobs, variables={**self.jobs.variables, **variables})

    @property
    def data(self) -> Path:
        """The default directory of the data."""
        return self.claim / "ml" / "corpus"

    @property
    def exit_code(self) -> int:
        """Of the last failure that is recorded for waiting jobs."""
        return int(json.loads((self.data / FAILED_FILE).read_text(encoding="utf-8"))["exitCode"])


@pytest.fixture
def storage(s3: str) -> Storage:
    return new_bucket(s3)


@pytest.fixture
def filled(storage: Storage, tmp_path: Path, juicefs: Path) -> Filled:
    """Nothing is copied yet."""
    storage.put({**OBJECTS, "train-2/c": b"begins as the prefix does", "other/d": b"other"})
    return Filled(storage, tmp_path, juicefs)


def test_the_first_sync_fills_the_directory_of_the_dataset(filled: Filled) -> None:
    done = filled.jobs.sync()
    assert done.code == 0, done.output
    assert files(filled.data) == SAMPLES
    assert look(filled.data, "synced").state == "ready"
    assert json.loads((filled.data / COMPLETE_FILE).read_text())["run"] == filled.jobs.run_of_sync
    assert (filled.data / marker_path(filled.jobs.run_of_sync)).is_file()
    done = filled.jobs.sync()
    assert (done.code, done.last["message"]) == (0, "This run was complete before: nothing to do")


def test_directories_whose_names_urls_write_in_another_way(storage: Storage, tmp_path: Path, juicefs: Path) -> None:
    storage.put(OBJECTS)
    filled = Filled(storage, tmp_path, juicefs)
    directory = "sets/a:b:c@d #%41?\u00e4"
    spec = {**filled.spec, "volume": {"claim": {"name": "samples", "subPath": directory}}}
    done = replace(filled.jobs, manifests=compiled(spec)).sync()
    assert done.code == 0, done.output
    assert files(filled.claim / directory) == SAMPLES
    assert [each.name for each in (filled.claim / "sets").iterdir()] == [directory.partition("/")[2]]


def test_the_root_of_a_claim_is_filled(storage: Storage, tmp_path: Path, juicefs: Path) -> None:
    storage.put(OBJECTS)
    filled = Filled(storage, tmp_path, juicefs)
    spec = {**filled.spec, "volume": {"claim": {"name": "samples", "subPath": "/"}}}
    done = replace(filled.jobs, manifests=compiled(spec)).sync()
    assert done.code == 0, done.output
    assert files(filled.claim) == SAMPLES
    assert look(filled.claim, "synced").state == "ready"


def test_every_user_can_read_what_was_copied(filled: Filled) -> None:
    """The pods of a training run as users that only its image knows."""
    assert filled.jobs.sync().code == 0
    for path in [filled.data, *filled.data.rglob("*")]:
        found = path.stat()
        assert (found.st_uid, found.st_gid) == (USER, USER), path
        assert stat.S_IMODE(found.st_mode) & 0o444 == 0o444, path


def test_a_refresh_copies_what_is_new_and_deletes_nothing(filled: Filled) -> None:
    assert filled.jobs.sync().code == 0
    filled.storage.put({"train/new": b"new", "train/a": b"longer"})
    with filled.storage.client() as client:
        client.call("DELETE", "train/deep/er/b")
    (filled.data / "own").write_bytes(b"of a training")
    done = filled.jobs.refresh(29000000)
    assert done.code == 0, done.output
    assert files(filled.data) == {**SAMPLES, "new": b"new", "a": b"longer", "own": b"of a training"}
    assert json.loads((filled.data / COMPLETE_FILE).read_text())["run"] == filled.jobs.run_of_sync


def test_a_refresh_that_fails_leaves_the_dataset_ready(filled: Filled) -> None:
    assert filled.jobs.sync().code == 0
    wrong = filled.with_variables(STOWPLAN_SOURCE_SECRET_KEY="wrong-CANARY")
    assert wrong.refresh(29000000).code == 3
    assert look(filled.data, "synced").state == "ready"
    assert files(filled.data) == SAMPLES


def test_a_task_syncs_once_more(filled: Filled) -> None:
    assert filled.jobs.sync().code == 0
    filled.storage.put({"train/new": b"new"})
    done = replace(filled.jobs, manifests=compiled_task({"sync": {}}, filled.spec)).sync()
    assert done.code == 0, done.output
    assert files(filled.data) == {**SAMPLES, "new": b"new"}
    assert look(filled.data, "synced").state == "ready"


@pytest.mark.parametrize("key", ["wrong-CANARY-0123456789", ""])
def test_keys_that_the_storage_refuses(storage: Storage, tmp_path: Path, juicefs: Path, key: str) -> None:
    storage.put(OBJECTS)
    filled = Filled(storage, tmp_path, juicefs, reporter=False)
    with listening(tmp_path / "api") as reports:
        jobs = replace(
            filled.with_variables(STOWPLAN_SOURCE_SECRET_KEY=key, **reports.environment), arguments=(reports.argument,)
        )
        done = jobs.sync()
    assert (done.code, done.last["reason"]) == (3, "AccessDenied"), done.output
    assert not [each for each in (*SECRETS, ACCOUNT_TOKEN, key or SECRET_KEY) if each in done.output]
    assert filled.exit_code == 3
    assert look(filled.data, "synced").state == "failed"
    assert reports.status["phase"] == "SyncFailed"
    (attempt,) = reports.status["attempts"]
    assert (attempt["task"], attempt["state"], attempt["exitCode"]) == ("sync", "failed", 3)
    held = {each["type"]: each["status"] for each in reports.status["conditions"]}
    assert held == {"Synced": "False", "Ready": "False"}


def test_without_a_reporter_the_sync_says_that_the_dataset_is_ready(
    storage: Storage, tmp_path: Path, juicefs: Path
) -> None:
    storage.put(OBJECTS)
    filled = Filled(storage, tmp_path, juicefs, reporter=False)
    with listening(tmp_path / "api") as reports:
        jobs = replace(filled.with_variables(**reports.environment), arguments=(reports.argument,))
        done = jobs.sync()
        assert done.code == 0, done.output
        assert reports.status["phase"] == "Ready"
        (attempt,) = reports.status["attempts"]
        assert (attempt["files"], attempt["totalFiles"], attempt["state"]) == (3, 3, "succeeded")
        assert jobs.refresh(29000000).code == 0
    # The first sync alone decides.
    assert "phase" not in reports.status


def test_a_source_without_objects(storage: Storage, tmp_path: Path, juicefs: Path) -> None:
    storage.put({"train-2/c": b"begins as the prefix does"})
    filled = Filled(storage, tmp_path, juicefs)
    done = filled.jobs.sync()
    assert (done.code, done.last["reason"], filled.exit_code) == (4, "NotFound", 4)
    assert files(filled.data) == {}


def test_secrets_are_only_in_the_environment_of_the_client(filled: Filled) -> None:
    folder, calls = filled.folder / "bin", filled.folder / "calls"
    folder.mkdir()
    calls.touch()
    calls.chmod(0o666)
    program = filled.jobs.variables["PATH"].partition(":")[0] + "/juicefs"
    (folder / "juicefs").write_text(SPY.format(record=str(calls), program=program), encoding="utf-8")
    (folder / "juicefs").chmod(0o755)
    done = filled.with_variables(PATH=f"{folder}:{os.environ['PATH']}").sync()
    assert done.code == 0, done.output
    assert not [each for each in SECRETS if each in done.output]
    seen = [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]
    assert sum("minio://" in " ".join(words) for words, _ in seen) == 1
    for words, variables in seen:
        assert not [each for each in SECRETS if each in " ".join(words)]
        assert not [name for name in variables if name.startswith("STOWPLAN_")]
    for path in [*filled.claim.rglob("*"), *filled.jobs.folder.rglob("*")]:
        if path.is_file():
            assert not [each for each in SECRETS if each.encode() in path.read_bytes()], path


def _link_on_the_way(filled: Filled) -> None:
    (filled.claim / "elsewhere").mkdir()
    (filled.claim / "ml").symlink_to("elsewhere")


def _link_inside(filled: Filled) -> None:
    (filled.claim / "elsewhere").mkdir()
    (filled.data / "some").mkdir(parents=True)
    (filled.data / "some" / "deep").symlink_to("../../../elsewhere")
    for each in (filled.claim / "ml", filled.data, filled.data / "some", filled.claim / "elsewhere"):
        each.chmod(0o777)


@pytest.mark.parametrize("make", [_link_on_the_way, _link_inside])
def test_no_link_leads_a_sync_out_of_the_dataset(filled: Filled, make: Callable[[Filled], None]) -> None:
    make(filled)
    done = filled.jobs.sync()
    assert (done.code, done.last["reason"]) == (5, "Link"), done.output
    assert list((filled.claim / "elsewhere").iterdir()) == []


def test_keys_that_lead_out_of_the_dataset_are_an_error(storage: Storage, tmp_path: Path, juicefs: Path) -> None:
    storage.put({"train/a": b"a", "train/z": b"z"})
    with proxied(storage.endpoint) as proxy:
        proxy.rule = leads_out
        done = Filled(storage, tmp_path, juicefs, proxy.url).jobs.sync()
    assert (done.code, done.last["reason"]) == (5, "UnsafeKeys"), done.output
    assert files(tmp_path / "claim/ml/corpus") == {}
    assert not list((tmp_path / "claim").rglob("escaped"))


def test_a_refresh_fetches_what_was_replaced_by_as_many_bytes(filled: Filled) -> None:
    assert filled.jobs.sync().code == 0
    filled.storage.put({"train/a": b"A"})
    (filled.data / "\u00e4 #").write_bytes(b"ODD")
    done = filled.jobs.refresh(1)
    assert "2 files are new, 1 were there" in done.last["message"], done.output
    assert files(filled.data) == {**SAMPLES, "a": b"A"}
    done = filled.jobs.refresh(2)
    assert "0 files are new, 3 were there" in done.last["message"], done.output


def test_patterns_select_what_is_copied(filled: Filled) -> None:
    spec = {**filled.spec, "source": {"storage": {**filled.spec["source"]["storage"], "exclude": ["deep/"]}}}
    jobs = replace(filled.jobs, manifests=compiled(spec))
    done = jobs.sync()
    assert done.code == 0, done.output
    assert files(filled.data) == {key: data for key, data in SAMPLES.items() if key != "deep/er/b"}
    assert (done.last["filesTotal"], done.last["filesLeftOut"]) == (2, 1)


def test_a_claim_that_the_agent_cannot_write_to(filled: Filled) -> None:
    os.chown(filled.claim, 0, 0)
    filled.claim.chmod(0o755)
    done = filled.jobs.sync()
    assert (done.code, done.last["reason"]) == (5, "NoAccess"), done.output


def test_a_claim_that_is_full(storage: Storage, new_disk: NewDisk, tmp_path: Path, juicefs: Path) -> None:
    storage.put({f"train/{number}": os.urandom(1 << 20) for number in range(4)})
    disk = new_disk(2)
    filled = Filled(storage, tmp_path, juicefs)
    os.chown(disk, 0, USER)
    disk.chmod(0o2775)
    done = replace(filled.jobs, place=disk).sync()
    assert (done.code, done.last["reason"]) == (5, "NoSpace"), done.output


def test_a_sync_by_the_transfer_agent_excludes_another_one(filled: Filled) -> None:
    assert filled.jobs.sync().code == 0
    with held(LockFile(filled.data, LOCK_FILE), "transfer", Stop(), Log()):
        done = filled.jobs.refresh(29000000)
    assert (done.code, done.last["reason"]) == (5, "Locked"), done.output
    assert filled.jobs.refresh(29000001).code == 0


def test_a_sync_that_is_killed_at_any_moment_ends_whole(filled: Filled) -> None:
    chance, kills = random.Random(7), Kills(KILLS)  # noqa: S311 - content of a test
    now, ever = dict(SAMPLES), {name: {data} for name, data in SAMPLES.items()}
    for attempt in kills:
        changed = {f"{number:03}": chance.randbytes(100_000) for number in chance.sample(range(40), 20)}
        filled.storage.put({f"train/{name}": data for name, data in changed.items()})
        now |= changed
        for name, data in changed.items():
            ever.setdefault(name, set()).add(data)
        with filled.jobs.refreshing(29000000 + attempt) as process:
            kills.strike(process)
        there = {name: data for name, data in files(filled.data).items() if not is_left_over(name)}
        assert all(data in ever[name] for name, data in there.items())
    done = filled.jobs.sync()
    assert done.code == 0, done.output
    assert files(filled.data) == now
    left = sorted(each.name for each in (filled.data / STATE_DIRECTORY).iterdir())
    assert left == ["complete.json", "listings", "lock", "runs"]


def is_left_over(name: str) -> bool:
    return any(fnmatchcase(name.rpartition("/")[2], pattern) for pattern in LEFTOVERS)
