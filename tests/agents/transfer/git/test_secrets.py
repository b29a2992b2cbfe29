"""The token is only in the places that need it."""

import base64
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import pytest

from tests.agents.compiled_dataset import AS_USER
from tests.agents.transfer.faults import Fault, Proxy
from tests.agents.transfer.git.agent import Cube
from tests.agents.transfer.git.author import Author
from tests.agents.transfer.git.server import TOKEN, USERNAME, Forge
from tests.agents.transfer.reports import Reports
from tests.agents.waiting import until

ATTRIBUTES = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}
FORMS = (TOKEN, quote(TOKEN, safe=""), quote(TOKEN), base64.b64encode(f"{USERNAME}:{TOKEN}".encode()).decode()[4:-4])


@contextmanager
def watched(agent: int) -> Iterator[dict[str, set[bytes]]]:
    """Command lines and environments of all that the agent starts, looked at all the time."""
    found: dict[str, set[bytes]] = {"cmdline": set(), "environ": set(), "names": set()}
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            for path in Path("/proc").glob("[0-9]*"):
                if path.name == str(agent):
                    continue
                try:
                    variables = (path / "environ").read_bytes()
                    line = (path / "cmdline").read_bytes()
                except OSError:
                    continue
                if b"stowplan-git-" in variables:
                    found["environ"].add(variables)
                    found["cmdline"].add(line)
                    found["names"].add(line.split(b"\0")[0].rpartition(b"/")[2])
            time.sleep(0.001)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def all_of(folder: Path) -> str:
    """Everything below a folder, with the names."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return "".join(f"{path}\n{path.read_text(errors='replace')}\n" for path in files)


@pytest.mark.parametrize("way", ["download", "upload"])
@pytest.mark.parametrize("place", ["option", "url"])
def test_token_is_in_no_child_no_file_no_log_and_no_report(  # noqa: PLR0917 - fixtures
    cube: Cube, writer: Author, proxy: Proxy, reports: Reports, way: str, place: str
) -> None:
    """A server that repeats the token in all forms, after everything went well so far."""
    writer.commit({"a": b"1", **ATTRIBUTES, **writer.lfs({"1.big": b"1" * 3000})})
    if way == "upload":
        assert cube.download().code == 0
        clone = Author(cube.clone, writer.forge)
        clone.git("lfs", "install", "--local", "--skip-repo")
        (cube.clone / "2.big").write_bytes(b"2" * 300_000)
        clone.git("add", "2.big")
        clone.git("commit", "-q", "-m", "New")
    said = " ".join([*FORMS[:3], base64.b64encode(f"{USERNAME}:{TOKEN}".encode()).decode()])
    last = "service=git-receive-pack" if way == "upload" else "/objects/batch"
    echo = (
        Fault(403, said.encode(), {"Content-Type": "text/plain"})
        if way == "upload"
        else Fault(
            403,
            json.dumps({"message": f"Forbidden: {said}"}).encode(),
            {"Content-Type": "application/vnd.git-lfs+json"},
        )
    )
    # As long as a child waits for an answer, it can be seen.
    wait = Fault(seconds=0.3)
    proxy.rule = lambda request: replace(echo, seconds=0.3) if request.path.endswith(last) else wait
    environment = {}
    fields: dict[str, Any] = {}
    if place == "url":
        # As a Secret of the old system has it.
        environment = {"URL": cube.url.replace("http://", f"http://{USERNAME}:{quote(TOKEN, safe='')}@")}
        fields = {"tokenEnv": None, "username": None}
    else:
        environment = {"URL": cube.url}
    environment |= reports.environment
    more = (reports.argument,)
    started = cube.started(upload=way == "upload", run="run", environment=environment, more=more, **fields)
    with started as process, watched(process.pid) as seen:
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 3, output
    assert b"git" in seen["names"], "the children were seen"
    children = b"\n".join([*seen["cmdline"], *seen["environ"]]).decode(errors="replace")
    assert reports.status["attempt"]["exitCode"] == json.loads(reports.words)["exitCode"] == 3
    for where in (output, all_of(cube.claim), children, *reports.patches, reports.words):
        for form in FORMS:
            assert form not in where
    assert all("[redacted]" in where for where in (output, reports.patches[-1], reports.words))
    assert proxy.requests


def test_addresses_with_credentials_are_not_logged(
    cube: Cube, writer: Author, proxy: Proxy, forge: Forge, reports: Reports
) -> None:
    """Git LFS quotes the URL of an object where its server refuses it, and somebody may have put a password there."""
    writer.commit({**ATTRIBUTES, **writer.lfs({"1.big": b"1" * 3000})})
    forge.query = "?X-Amz-Credential=CANARY1&X-Amz-Signature=CANARY2&token=CANARY3"
    forge.lfs_url = proxy.url.replace("://", "://me:CANARY4@")
    forge.users = {}
    proxy.rule = lambda request: Fault(403) if "X-Amz" in request.path else None
    with cube.started(environment=reports.environment, more=(reports.argument,)) as process:
        output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert [each for each in proxy.requests if "CANARY2" in each.path]
    for where in (output, all_of(cube.claim), *reports.patches, reports.words):
        assert "CANARY" not in where
    assert all("[redacted]" in where for where in (output, reports.patches[-1], reports.words))


def test_temporary_files_are_gone_and_were_private(cube: Cube, writer: Author, proxy: Proxy) -> None:
    writer.commit({"a": b"1"})
    looked = threading.Event()
    proxy.rule = lambda _: None if looked.wait(60) else Fault(503)
    # Not below the folder of the test, whose path may be too long for what is put there.
    with TemporaryDirectory(prefix="sg-") as name, cube.started(environment={"TMPDIR": name}) as process:
        until(lambda: proxy.requests)
        (folder,) = Path(name).iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        looked.set()
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
        assert list(Path(name).iterdir()) == []


def test_folder_for_temporary_files_with_a_long_path(cube: Cube, writer: Author, tmp_path: Path) -> None:
    """The path of a socket has 108 bytes, so it is not made there."""
    writer.commit({"a": b"1"})
    scratch = tmp_path / ("x" * 100)
    scratch.mkdir()
    ended = cube.download(environment={"TMPDIR": str(scratch)})
    assert ended.code == 0, ended.output
    assert list(scratch.iterdir()) == []


def test_password_of_a_proxy(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    ended = cube.download(environment={"http_proxy": "http://me:pr0xy-p4ss@127.0.0.1:1"})
    assert (ended.code, ended.last["reason"]) == (10, "RequestFailed"), ended.output
    assert "through the proxy 127.0.0.1:1: " in ended.last["message"]
    assert "pr0xy-p4ss" not in ended.output + all_of(cube.claim)


def test_without_a_token_everybody_is_asked_nothing(cube: Cube, writer: Author, forge: Forge) -> None:
    writer.commit({"a": b"1"})
    ended = cube.download(tokenEnv=None, username=None)
    assert (ended.code, ended.last["reason"]) == (3, "AccessDenied"), ended.output
    forge.users = {}
    assert cube.download(tokenEnv=None, username=None).code == 0


def test_an_address_that_cannot_be(cube: Cube) -> None:
    ended = cube.download(environment={"URL": "https://user:p4ss/word@example.com/a/b.git"})
    assert (ended.code, "URL" in ended.last["message"]) == (2, True), ended.output
    assert "p4ss" not in ended.output
    assert list(cube.claim.iterdir()) == []


def test_token_in_a_variable_as_older_pods_have_it(cube: Cube, writer: Author) -> None:
    writer.commit({"a": b"1"})
    ended = cube.download(environment={"OLD": f"{TOKEN}\n"}, tokenEnv="OLD")
    assert ended.code == 0, ended.output


def test_nobody_reads_what_the_agent_began_with() -> None:
    """Another process of the same user, such as one that Git starts."""
    script = "from stowplan.agents.attempt.child_process import hide; hide()"
    for first, hidden in (("pass", False), (script, True)):
        words = [*AS_USER, sys.executable, "-c", f"{first}; print(flush=True); input()"]
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"TOKEN": TOKEN}, cwd="/"
        ) as process:
            assert process.stdout
            process.stdout.readline()
            read = [*AS_USER, "cat", f"/proc/{process.pid}/environ"]
            done = subprocess.run(read, capture_output=True, check=False)
            assert (TOKEN.encode() in done.stdout, bool(done.returncode)) == (not hidden, hidden)
            process.communicate(b"\n")
