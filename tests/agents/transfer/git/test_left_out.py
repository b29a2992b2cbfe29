"""What a repository names and a clone does not hold is told: submodules, and content that Git LFS keeps."""

from pathlib import Path
from typing import Any

import pytest

from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, author, pointer
from tests.agents.transfer.git.server import Forge
from tests.agents.transfer.git.test_download import add
from tests.agents.transfer.reports import Reports

LFS = {".gitattributes": b"*.big filter=lfs\n"}


def left_out(reports: Reports) -> dict[str, Any]:
    """Reasons in the status of the attempt, with (count, examples)."""
    attempt = reports.status["attempt"]
    return {each["reason"]: (each["count"], each["examples"]) for each in attempt["leftOut"]}


@pytest.fixture
def inner(cube: Cube, writer: Author, forge: Forge) -> Author:
    """A submodule in the folder `in` of `model.git`. A file of it looks like a pointer, and Git LFS has another one."""
    made = author(cube.folder / "inner", forge, "inner.git")
    made.commit({"i": b"1", "note": pointer(b"no content"), **LFS, **made.lfs({"x.big": b"x"})})
    add(writer, "../inner.git", "in", made.head)
    writer.commit({"a": b"1"})
    return made


def test_submodules_that_are_not_fetched(cube: Cube, inner: Author, reports: Reports) -> None:
    for _ in range(2):
        ended = cube.download(environment=reports.environment, more=(reports.argument,))
        assert (ended.code, left_out(reports)) == (0, {"submodule": (1, ["in"])}), ended.output
        assert "1 submodule is not fetched ('in'): `submodules: true` brings them" in ended.last["message"]
        (said,) = ended.said("LeftOut")
        assert said.startswith("1 submodule is not fetched")


def test_pointers_of_submodules(cube: Cube, inner: Author, reports: Reports) -> None:
    ended = cube.download(submodules=True, environment=reports.environment, more=(reports.argument,))
    assert (ended.code, left_out(reports)) == (0, {"pointer": (1, ["in/note"])}), ended.output
    assert tree(cube.clone)["in/x.big"] == b"x"


@pytest.mark.parametrize("lfs", [True, False])
def test_pointers_whose_content_is_not_there(cube: Cube, writer: Author, reports: Reports, *, lfs: bool) -> None:
    """Without attributes Git takes the content for an edit, so the file stays what it is."""
    stray = {"stray.bin": pointer(b"s" * 1000), "crlf.bin": pointer(b"c").replace(b"\n", b"\r\n")}
    writer.lfs({"stray.bin": b"s" * 1000})
    writer.commit({**LFS, **stray, **writer.lfs({"x.big": b"x"}), "text": b"t" * 130})
    expected = sorted(stray) if lfs else sorted([*stray, "x.big"])
    for _ in range(2):
        ended = cube.download(lfs=lfs, environment=reports.environment, more=(reports.argument,))
        assert (ended.code, left_out(reports)) == (0, {"pointer": (len(expected), expected)}), ended.output
        assert f"{len(expected)} files are pointers of Git LFS ('crlf.bin', 'stray.bin'" in ended.last["message"]
        assert tree(cube.clone)["stray.bin"] == stray["stray.bin"]


def test_names_of_the_status_are_bounded(cube: Cube, writer: Author, reports: Reports) -> None:
    writer.commit({f"{number:03}": pointer(b"%d" % number) for number in range(200)})
    ended = cube.download(environment=reports.environment, more=(reports.argument,))
    count, examples = left_out(reports)["pointer"]
    assert (ended.code, count, len(examples)) == (0, 200, 10), ended.output


def test_push_without_the_content_of_lfs(cube: Cube, writer: Author, reports: Reports, tmp_path: Path) -> None:
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    (cube.clone / "x.big").write_bytes(pointer(b"content"))
    cube.git("add", "x.big")
    cube.git("commit", "-q", "-m", "Mine")
    ended = cube.upload(lfs=False, environment=reports.environment, more=(reports.argument,))
    assert (ended.code, left_out(reports)["pointer"][0]) == (0, 1), ended.output
    assert "1 file is a pointer of Git LFS" in ended.last["message"]
