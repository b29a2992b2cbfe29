"""From a directory to a real S3 server."""

import os
import re
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import obstore
import pytest

from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3.checksum import digest_of
from stowplan.agents.transfer.remotes.s3.protocol import multipart
from stowplan.agents.transfer.remotes.s3.protocol.keeper import ALGORITHM, Keeper
from tests.agents.ended import Ended
from tests.agents.transfer.agent import Cube
from tests.agents.transfer.faults import Fault, Proxy, Request
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import ODD, large

OBJECTS = {"a.txt": b"a", "deep/er/b.txt": b"b" * 70_000, "deep-er": b"", ODD: b"x", "large": large()}


@pytest.fixture
def filled(watched: Cube) -> Cube:
    write(watched.data, OBJECTS)
    return watched


def write(folder: Path, objects: dict[str, bytes]) -> None:
    for key, data in objects.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(data)


def below(prefix: str, objects: dict[str, bytes]) -> dict[str, bytes]:
    return {prefix + key: data for key, data in objects.items()}


@pytest.mark.parametrize(("uri", "prefix"), [("", ""), ("to", "to/"), ("to/deep/", "to/deep/")])
def test_files_go_under_the_uri(filled: Cube, storage: Storage, uri: str, prefix: str) -> None:
    storage.put({"other": b"stays"})
    ended = filled.upload(uri)
    assert ended.code == 0, ended.output
    assert storage.read() == {"other": b"stays", **below(prefix, OBJECTS)}


def test_only_what_changed_is_sent(filled: Cube, storage: Storage, proxy: Proxy) -> None:
    assert filled.upload("to").code == 0
    changed = {"a.txt": b"A", "large": large(seed=9)}
    write(filled.data, changed)
    before = len(proxy.requests)
    ended = filled.upload("to")
    assert (ended.code, ended.last["filesUnchanged"]) == (0, 3)
    assert storage.read() == below("to/", {**OBJECTS, **changed})
    sent = {each.path.partition("?")[0].rpartition("/")[2] for each in proxy.requests[before:] if each.method == "PUT"}
    assert sent == set(changed)


def test_run_that_is_done_does_nothing(filled: Cube, proxy: Proxy) -> None:
    assert filled.upload("to", run="run").code == 0
    before = len(proxy.requests)
    assert filled.upload("to", run="run").code == 0
    assert len(proxy.requests) == before


def test_source_that_is_mounted_read_only_keeps_no_state(filled: Cube, storage: Storage) -> None:
    ended = Cube(filled.folder, storage, filled.endpoint, {"state": None}).upload("to", run="run")
    assert ended.code == 0, ended.output
    assert {path.name for path in filled.claim.iterdir()} == {"data"}
    assert storage.read() == below("to/", OBJECTS)


NOBODY = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")
"""Before a command: root without its rights over files of others."""


@pytest.fixture
def theirs(filled: Cube) -> Cube:
    """A claim whose files are another user's. All may read them, and nobody else may write."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("no right to give files to another user")
    for each in (filled.claim, *filled.claim.rglob("*")):
        os.chown(each, 1234, 1234)
        each.chmod(0o755 if each.is_dir() else 0o644)
    return filled


def test_a_source_of_somebody_else_is_only_read(theirs: Cube, storage: Storage) -> None:
    for _ in range(2):
        with theirs.started(theirs.local(), theirs.remote("to"), "run", before=NOBODY) as process:
            output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output
        assert "cannot be written to" in output
    assert {path.name for path in theirs.claim.iterdir()} == {"data"}
    assert storage.read() == below("to/", OBJECTS)


def test_state_of_somebody_else_is_left_alone(theirs: Cube, storage: Storage) -> None:
    """As of an upload by another user."""
    assert theirs.upload("to", run="before").code == 0
    kept = {path.relative_to(theirs.claim): path.stat().st_mtime_ns for path in theirs.claim.rglob("*")}
    for each in theirs.claim.rglob("*"):
        os.chown(each, 1234, 1234)
    with theirs.started(theirs.local(), theirs.remote("to"), "run", before=NOBODY) as process:
        output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    assert kept == {path.relative_to(theirs.claim): path.stat().st_mtime_ns for path in theirs.claim.rglob("*")}


def test_files_that_may_not_be_read(theirs: Cube) -> None:
    (theirs.data / "a.txt").chmod(0o600)
    with theirs.started(theirs.local(), theirs.remote("to"), "run", before=NOBODY) as process:
        output, _ = process.communicate(timeout=120)
    ended = Ended(process.returncode, output)
    assert (ended.code, ended.last["reason"]) == (5, "NoAccess"), output
    assert "a.txt" in ended.last["message"]
    assert "supplementalGroups" in ended.last["message"]


@pytest.mark.parametrize(("kind", "uri", "key"), [("auto", "to", "to/large"), ("file", "to/x", "to/x")])
def test_one_file(filled: Cube, storage: Storage, kind: str, uri: str, key: str) -> None:
    ended = filled.upload(uri, path="data/large", kind=kind)
    assert ended.code == 0, ended.output
    assert storage.read() == {key: OBJECTS["large"]}
    assert filled.upload(uri, path="data/large", kind=kind).last["filesUnchanged"] == 1


def test_state_and_other_directories_of_the_claim_are_no_data(filled: Cube, storage: Storage) -> None:
    write(filled.claim, {"lost+found/x": b"x", "top": b"top"})
    ended = filled.upload(path="", run="run")
    assert ended.code == 0, ended.output
    assert storage.read() == {"top": b"top", **below("data/", OBJECTS)}


def test_links_that_lead_out_send_nothing(filled: Cube, storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (filled.data / "link").symlink_to(tmp_path / "secret")
    (filled.data / "folder").symlink_to(tmp_path)
    os.mkfifo(filled.data / "pipe")
    (filled.data / "nothing").mkdir()
    ended = filled.upload()
    assert (ended.code, ended.last["reason"]) == (5, "Links")
    assert storage.read() == {}
    skipped = filled.run({**filled.local(), "links": "skip"}, filled.remote())
    assert (skipped.code, skipped.last["filesLeftOut"]) == (0, 4)
    left = "devices, sockets or pipes (1), empty folders (1), links (2)"
    assert skipped.last["message"] == f"The bucket holds {len(OBJECTS)} files of the source; left out: {left}"
    assert storage.read() == OBJECTS


def test_links_within_the_source_are_sent_as_what_they_lead_to(filled: Cube, storage: Storage) -> None:
    (filled.data / "again").symlink_to("large")
    (filled.data / "folder").symlink_to("deep")
    ended = filled.upload()
    assert (ended.code, ended.last["message"]) == (0, "The bucket holds every file of the source")
    inside = {f"folder/{key.removeprefix('deep/')}": data for key, data in OBJECTS.items() if key.startswith("deep/")}
    assert storage.read() == {**OBJECTS, **inside, "again": OBJECTS["large"]}
    assert filled.upload().last["filesUnchanged"] == len(OBJECTS) + len(inside) + 1


def test_names_that_can_be_no_keys_are_refused_before_anything_is_sent(filled: Cube, storage: Storage) -> None:
    for name in (b"\xff\xfe", b"bell\x07", b"back\\slash"):
        Path(os.fsdecode(os.fsencode(filled.data) + b"/" + name)).touch()
    ended = filled.upload()
    assert (ended.code, ended.last["reason"]) == (5, "UnsafeKeys")
    assert ended.last["message"].startswith("3 names")
    assert storage.read() == {}


def test_nothing_there(filled: Cube) -> None:
    ended = filled.upload(path="nowhere")
    assert (ended.code, ended.last["reason"]) == (4, "NotFound")


def test_bucket_is_made_on_request_alone(filled: Cube, storage: Storage) -> None:
    missing = Storage(storage.endpoint, f"{storage.bucket}-new")
    other = Cube(filled.folder, missing)
    ended = other.upload()
    assert (ended.code, ended.last["reason"]) == (4, "NoBucket")
    assert "createBucket" in ended.last["message"]
    ended = other.upload(createBucket=True)
    assert ended.code == 0, ended.output
    assert missing.read() == OBJECTS


def test_account_that_may_not_look_at_the_bucket(filled: Cube, storage: Storage, proxy: Proxy) -> None:
    proxy.rule = lambda request: Fault(status=403) if request.method == "HEAD" else None
    ended = filled.upload()
    assert (ended.code, "s3-no-check-bucket" in ended.last["message"]) == (3, True)
    sides = (filled.local(), filled.remote(noCheckBucketEnv="S3_NO_CHECK_BUCKET"))
    with filled.started(*sides, environment={"S3_NO_CHECK_BUCKET": "true"}) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert storage.read() == OBJECTS


def test_file_that_changes_while_it_is_sent_is_not_completed(filled: Cube, storage: Storage, proxy: Proxy) -> None:
    def rule(request: Request) -> Fault | None:
        if "partNumber=1" in request.path:
            (filled.data / "large").write_bytes(large(seed=5))
        return None

    proxy.rule = rule
    ended = filled.upload()
    assert (ended.code, ended.last["reason"]) == (10, "FileChanged")
    assert "large" not in storage.read()
    proxy.rule = None
    assert filled.upload().code == 0
    assert storage.read()["large"] == large(seed=5)


def test_old_uploads_are_aborted_and_new_ones_are_not(filled: Cube, storage: Storage, proxy: Proxy) -> None:
    with storage.client() as client:
        old, new = (multipart.begin(Keeper(client, Log()), f"gone-{each}").id for each in ("old", "new"))

        def age(body: bytes) -> bytes:
            """The server dates uploads by its own clock, so the list is changed on its way."""
            day = (datetime.now(UTC) - timedelta(hours=25)).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
            return re.sub(rb"<Initiated>[^<]*(</Initiated><Key>gone-old)", rb"<Initiated>%s\1" % day, body)

        proxy.rule = lambda request: Fault(change=age) if request.path.endswith("&uploads=") else None
        ended = filled.upload()
        assert ended.code == 0, ended.output
        assert {each.id for each in multipart.begun(client, "")} == {new}
        assert old != new


def test_upload_of_other_bytes_is_not_taken_for_ours(filled: Cube, storage: Storage) -> None:
    """Somebody began an upload of the same key, of other bytes: what the object becomes is the file."""
    with storage.client() as client:
        upload = multipart.begin(Keeper(client, Log()), "large")
        data = large(5 << 20, seed=4)
        multipart.send(client, upload, 1, data, digest_of(ALGORITHM, data))
    ended = filled.upload()
    assert ended.code == 0, ended.output
    assert storage.read() == OBJECTS


def test_answer_to_the_end_of_an_upload_that_is_lost(filled: Cube, storage: Storage, proxy: Proxy) -> None:
    lost: list[Request] = []

    def rule(request: Request) -> Fault | None:
        if request.method == "POST" and "uploadId" in request.path and not lost:
            lost.append(request)
            return Fault(cut_after=0)
        return None

    proxy.rule = rule
    ended = filled.upload()
    assert ended.code == 0, ended.output
    assert len(lost) == 1
    assert storage.read() == OBJECTS


def test_memory_does_not_grow_with_the_parts(cube: Cube, storage: Storage) -> None:
    """Parts of a huge file are as large as they must be for their number."""
    cube.data.mkdir()
    with (cube.data / "large").open("wb") as file:
        file.truncate(260 << 20)
    small = Cube(cube.folder, storage, options={"memoryMiB": 128, "partSizeMiB": 64, "parallelism": 8})
    most = 0
    with small.started(small.local(), small.remote()) as process:
        while process.poll() is None:
            most = max(most, highest_mib(process.pid))
            time.sleep(0.01)
        output, _ = process.communicate()
    assert process.returncode == 0, output
    assert 0 < most < 128
    assert obstore.head(storage.store, "large")["size"] == 260 << 20


def highest_mib(process: int) -> int:
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    return int(found[1]) >> 10 if found else 0
