"""The filter answers as gitattributes(5) asks a long running process to, with the content that Git LFS means."""

import hashlib
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest

import stowplan
from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.transfer.remotes.git.program.lfs_filter import Filter
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import Pointer, object_key

LARGE = b"0123456789abcdef" * 200_000
"""More than fits into one packet, and into memory by the filter's own limit."""


def packets(*lines: bytes) -> bytes:
    return b"".join(b"%04x" % (len(each) + 4) + each for each in lines) + b"0000"


def pointer(data: bytes) -> bytes:
    return Pointer(hashlib.sha256(data).hexdigest(), len(data)).text.encode()


def lists(data: bytes) -> list[list[bytes]]:
    """The lists of packets in a stream."""
    found: list[list[bytes]] = [[]]
    while data:
        length = int(data[:4], 16)
        found[-1].append(data[4:length]) if length else found.append([])
        data = data[length or 4 :]
    return found[:-1]


def asked(claim: Path, command: bytes, content: bytes) -> tuple[list[bytes], bytes, list[bytes]]:
    """First status, content and last status of the answer to one request."""
    blocks = [content[at : at + 65516] for at in range(0, len(content), 65516)]
    begin = packets(b"git-filter-client\n", b"version=2\n") + packets(b"capability=clean\n", b"capability=smudge\n")
    request = packets(b"command=%s\n" % command, b"pathname=a.big\n") + packets(*blocks)
    sink = BytesIO()
    with ClaimFolder.at(claim) as inside:
        Filter(inside, BytesIO(begin + request), sink).run()
    hello, capabilities, *answer = lists(sink.getvalue())
    assert hello == [b"git-filter-server\n", b"version=2\n"]
    assert capabilities == [b"capability=clean\n", b"capability=smudge\n"]
    status, *rest = answer
    return status, b"".join(rest[0]) if rest else b"", rest[1] if rest else []


@pytest.mark.parametrize(
    ("content", "cleaned"),
    [(b"x", pointer(b"x")), (LARGE, pointer(LARGE)), (b"", b""), (pointer(b"x"), pointer(b"x"))],
    ids=["small", "large", "empty", "pointer"],
)
def test_content_becomes_a_pointer(tmp_path: Path, content: bytes, cleaned: bytes) -> None:
    assert asked(tmp_path, b"clean", content) == ([b"status=success\n"], cleaned, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"x", LARGE], ids=["small", "large"])
def test_pointer_becomes_content(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lfs/objects" / object_key(hashlib.sha256(content).hexdigest())
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert asked(tmp_path, b"smudge", pointer(content)) == ([b"status=success\n"], content, [])
    assert asked(tmp_path, b"smudge", content) == ([b"status=success\n"], content, []), "what is no pointer stays"


@pytest.mark.parametrize("content", [b"xx", b""], ids=["longer", "shorter"])
def test_object_of_another_size_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "lfs/objects" / object_key(hashlib.sha256(b"x").hexdigest())
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    status, _, last = asked(tmp_path, b"smudge", pointer(b"x"))
    assert (status, last) == ([b"status=success\n"], [b"status=error\n"])


def test_object_that_is_missing_is_an_error(tmp_path: Path) -> None:
    assert asked(tmp_path, b"smudge", pointer(b"x"))[0] == [b"status=error\n"]


def test_it_starts_where_only_a_variable_names_the_path_of_modules(tmp_path: Path) -> None:
    """As in images. Git gets no variable of the agent."""
    python = str(Path(sys.base_prefix, "bin/python3"))
    paths = os.pathsep.join(str(Path(each).parent) for each in stowplan.__path__)
    with ClaimFolder.at(tmp_path) as inside:
        script = f"import {Filter.__module__} as it; print(it.command({inside.descriptor}))"
        done = subprocess.run(
            [python, "-S", "-c", script], env={"PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True, text=True
        )
        begin = packets(b"git-filter-client\n", b"version=2\n")
        answer = subprocess.run(
            ["sh", "-c", done.stdout],
            input=begin,
            env={},
            stdout=subprocess.PIPE,
            check=True,
            pass_fds=[inside.descriptor],
        )
    assert lists(answer.stdout)[0] == [b"git-filter-server\n", b"version=2\n"]
