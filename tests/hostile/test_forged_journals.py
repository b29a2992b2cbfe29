"""What a copy keeps in the claim between its attempts, forged by somebody who may write to the claim.

A record counts only for a file of the recorded size and time: who may change that file gains nothing by a record. So it
does not matter who wrote it, as long as nothing in it leads an agent elsewhere, or to endless work.
"""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import boot
from stowplan.agents.transfer import parts as part_files
from stowplan.agents.transfer.parts import PartFile
from stowplan.agents.transfer.remotes.huggingface.known import Known
from stowplan.agents.transfer.remotes.s3.journal import Journal
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE
from tests.agents.transfer.agent import Cube
from tests.agents.transfer.server import Storage
from tests.hostile.copies import COPIES, FILES
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import BUCKET, Answer, Request, serving
from tests.hostile.within import within

MIB = 1 << 20
LARGE = S3Object("large", 25 * MIB, '"e"', 1_700_000_000)
DIGEST = "sha256:" + "0" * 64


def most_memory(call: Callable[[], object]) -> int:
    """The bytes that a call has at one time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def line(key: str = "a", size: object = 1, etag: object = '"e"', modified: object = 1) -> str:
    return json.dumps([key, size, etag, modified, 1]) + "\n"


# Records of objects of a store.


FORGED: dict[str, list[object]] = {
    "etag": ['"e"\r\nx-y: z', "é", "e" * 2000, None, 1, []],
    "size": [-1, 1 << 63, 1.5, True, None, "1"],
    "modified": [1 << 40, -(1 << 40), None, 0.5],
}


@pytest.mark.parametrize("name", FORGED)
def test_record_with_a_value_that_no_listing_may_have_is_none(tmp_path: Path, name: str) -> None:
    for value in FORGED[name]:
        (tmp_path / "known.jsonl").write_text(line("a") + line("b", **{name: value}) + line("z"))
        assert [each.key for each in Journal(ClaimFolder.at(tmp_path)).known()] == ["a"], value


@pytest.mark.parametrize("bomb", ['{"a": [' + "[]," * (5 * MIB) + "[]]}", '{"written": ' + "[" * (5 * MIB)])
def test_progress_fills_no_memory(tmp_path: Path, bomb: str) -> None:
    (tmp_path / "listing.jsonl").write_text(line())
    (tmp_path / "progress.json").write_text(bomb)
    assert most_memory(Journal(ClaimFolder.at(tmp_path)).fold) < 8 * MIB
    assert not (tmp_path / "progress.json").exists()


@pytest.mark.parametrize("key", ["private/key", "../private/key", ".stowplan/private", "copied/.git/private"])
def test_listing_that_is_changed_during_the_copy_fetches_nothing_else(tmp_path: Path, key: str) -> None:
    """A store may take `..` in a path as a file system does, and what the patterns leave out is not for the claim."""
    with serving() as server:
        server.objects |= {f"{number:03}": b"x" for number in range(300)}
        last = line("299", etag=server.etag("299"), modified=1_767_225_600)
        cube = Cube(tmp_path, Storage(server.url, BUCKET), options={"requestRetries": 0})
        source = cube.remote(exclude=["private/**"])
        listing, forged = cube.state / "listing.jsonl", False

        def forge(request: Request) -> Answer | None:
            """Nobody has read so far when the first objects are fetched: there is a window."""
            nonlocal forged
            if request.key and not forged:
                forged = True
                whole = listing.read_text()
                assert whole.endswith(last)
                with listing.open("r+") as file:
                    file.seek(len(whole) - len(last))
                    file.write(line(key, size=7, etag="", modified=1_767_225_600))
            return Answer(body=b"private") if "private" in request.key else None

        server.rule = forge
        done = within(lambda: attempt(cube, source, cube.local()))
        assert forged
        assert not [each for each in server.requests if "private" in each.key]
        assert isinstance(done, AttemptError)
        assert (done.code, done.reason) == (ExitCode.INTEGRITY, "Incomplete")
        # The next attempt fetches what is missing, and nothing twice.
        server.requests.clear()
        assert isinstance(attempt(cube, source, cube.local()), str)
        assert [each.key for each in server.requests if each.key] == ["299"]
        assert len(list(cube.data.iterdir())) == 300


# Records of the parts of a large file.


def begun(folder: Path, journal: str) -> PartFile[S3Object]:
    part, name = folder / f"{LARGE.identity}.part", f"{LARGE.identity}.parts"
    with part.open("wb") as file:
        file.truncate(LARGE.size)
    (folder / name).write_text(journal)
    return PartFile(ClaimFolder.at(folder), LARGE, 10 * MIB)


@pytest.mark.parametrize("size", [1, 1024, MIB])
def test_large_file_is_not_fetched_in_as_many_parts_as_others_wish(tmp_path: Path, size: int) -> None:
    parts = begun(tmp_path, json.dumps({"partSize": size, "boot": boot()}) + "\nw 0\n")
    assert len(parts.missing) == 3
    parts.close()


@pytest.mark.parametrize("lines", ["w 0\n" * 4, "w 0\nw -1\n", "w 3\n", "w 1e3\n", f"w {'9' * 5000}\n"])
def test_parts_that_no_file_has_are_not_believed(tmp_path: Path, lines: str) -> None:
    parts = begun(tmp_path, json.dumps({"partSize": 10 * MIB, "boot": boot()}) + f"\nw 1\n{lines}")
    assert [each.number for each in parts.missing] == [0, 1, 2]
    parts.close()


def test_journal_of_parts_fills_no_memory(tmp_path: Path) -> None:
    head = json.dumps({"partSize": 10 * MIB, "boot": boot()})
    text = f"{head}\n" + "w 0\n" * (3 * MIB)
    parts: list[PartFile[S3Object]] = []
    assert most_memory(lambda: parts.append(begun(tmp_path, text))) < 3 * len(text)
    parts[0].close()


def test_leftovers_of_others_fill_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_files, "MOST_LEFTOVERS", 3)
    for number in range(7):
        (tmp_path / f"{number}.part").touch()
    folder = ClaimFolder.at(tmp_path)
    for left in (4, 1, 0):
        found = part_files.identities(folder)
        assert len(found) <= 3
        part_files.sweep(folder, found)
        assert len(list(tmp_path.iterdir())) == left


# Records of files of a Hub.


def test_records_of_files_that_no_commit_has_fill_no_memory(tmp_path: Path) -> None:
    head = json.dumps({"format": 1, "boot": "", "durable": True}) + "\n"
    other = "".join(json.dumps([f"{number}", DIGEST, 1, 1]) + "\n" for number in range(5_000))
    long = json.dumps(["b", "sha256:" + "1" * 60_000, 1, 1]) + "\n"
    (tmp_path / "files.jsonl").write_text(head + json.dumps(["a", DIGEST, 1, 1]) + "\n" + other + long)
    known: list[Known] = []
    wanted = {"a": DIGEST, "b": DIGEST, "c": DIGEST}
    assert most_memory(lambda: known.append(Known(ClaimFolder.at(tmp_path), wanted))) < MIB // 2
    known[0].close()
    assert (tmp_path / "files.jsonl").read_text().splitlines()[1:] == [json.dumps(["a", DIGEST, 1, 1])]


# Files that say that a run is done.


@pytest.mark.parametrize("depth", [500, 900, 30_000])
def test_marker_that_is_nested_as_deep_as_it_can_be_read_hinders_no_run(tmp_path: Path, depth: int) -> None:
    (tmp_path / ".stowplan").mkdir()
    (tmp_path / COMPLETE_FILE).write_text('{"run": "x", "revision": "r", "a": ' + "[" * depth + "]" * depth + "}")
    done = Completion(tmp_path, tmp_path / ".stowplan/sync", "run", changed=tmp_path)
    done.begin()
    done.end(ExitCode.DONE, {})
    assert done.is_done()
    assert done.present is None


@pytest.mark.parametrize("engine", COPIES)
def test_forged_journals_do_not_keep_a_copy_from_its_end(tmp_path: Path, engine: str) -> None:
    """The data may be what others wish, but a file that is not there is fetched."""
    journals = {
        "known.jsonl": "".join(line(key, len(data), "", 1) for key, data in sorted(FILES.items())),
        "listing.jsonl": "".join(line(key, len(data), "", 1) for key, data in sorted(FILES.items())),
        "progress.json": json.dumps({"boot": "", "synced": {"below": 10**30, "beyond": [-1], "replaced": {"x": None}}}),
        "files.jsonl": json.dumps({"durable": True})
        + "\n"
        + "".join(f'["{key}", "{DIGEST}", 1, 1]\n' for key in FILES),
    }
    with COPIES[engine](tmp_path) as copy:
        (copy.cube.state / "parts").mkdir(parents=True)
        for name, text in journals.items():
            (copy.cube.state / name).write_text(text)
        for name in copy.parts:
            (copy.cube.state / "parts" / name).write_text('{"partSize": 1, "boot": ""}\nw 0\ns 1\n')
        assert isinstance(within(copy.download), str)
        assert copy.copied == FILES
