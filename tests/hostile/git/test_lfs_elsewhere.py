"""Repositories and Git LFS servers that name addresses of other hosts."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import http_server
from tests.agents.transfer.faults import Fault, Proxy, Request
from tests.agents.transfer.git.agent import Cube, tree
from tests.agents.transfer.git.author import Author, pointer
from tests.agents.transfer.git.server import Forge, serving
from tests.http_server import QuietHandler

SECRET = b"SECRET-OF-THE-METADATA-SERVICE"
ATTRIBUTES = {".gitattributes": b"*.big filter=lfs diff=lfs merge=lfs -text\n"}
JSON = {"Content-Type": "application/vnd.git-lfs+json"}


class Metadata:
    """A server at an address that nobody named, and what it was asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.seen: list[str] = []


@pytest.fixture
def metadata() -> Iterator[Metadata]:
    found = Metadata("")

    class Handler(QuietHandler):
        def _answer(self) -> None:
            found.seen.append(f"{self.command} {self.path} {self.headers}")
            self.send_response(200)
            self.send_header("content-length", str(len(SECRET)))
            self.end_headers()
            self.wfile.write(SECRET)

        do_GET = do_PUT = do_POST = _answer

    with http_server.serving(Handler) as found.url:
        yield found


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    with serving(tmp_path / "forge") as running:
        running.users = {}
        yield running


def answering(href: str, name: str = "download", header: dict[str, str] | None = None) -> object:
    """A rule by which the batch API leads to another address."""

    def rule(request: Request) -> Fault | None:
        if not request.path.endswith("/objects/batch"):
            return None
        action = {name: {"href": href, "header": header or {}}}
        objects = [{"oid": OID, "size": len(SECRET), "actions": action}]
        return Fault(200, json.dumps({"transfer": "basic", "objects": objects}).encode(), JSON)

    return rule


OID = "ab" * 32


def wanting(writer: Author) -> None:
    """A commit with an object of the size of the secret: its digest is not that of the secret."""
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(SECRET)}\n"
    writer.commit({**ATTRIBUTES, "1.big": text.encode()})


def reported(cube: Cube, output: str) -> str:
    """All that is written and said."""
    files = [path for path in cube.claim.rglob("*") if path.is_file() and not path.is_symlink()]
    return output + "".join(path.read_bytes().decode(errors="replace") for path in files)


def test_lfsconfig_names_no_other_host(cube: Cube, writer: Author, metadata: Metadata) -> None:
    wanting(writer)
    writer.commit({".lfsconfig": f"[lfs]\n\turl = {metadata.url}/lfs\n".encode()})
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "LfsElsewhere"), ended.output
    assert metadata.seen == []


def test_lfsconfig_names_no_service_that_everybody_knows(cube: Cube, writer: Author) -> None:
    """An upload would bring the content there."""
    wanting(writer)
    writer.commit({".lfsconfig": b"[lfs]\n\turl = https://huggingface.co/evil/x.git/info/lfs\n"})
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "LfsElsewhere"), ended.output


@pytest.mark.parametrize("header", [{}, {"Metadata-Flavor": "Google"}])
def test_answer_leads_to_no_other_host(
    cube: Cube, writer: Author, proxy: Proxy, metadata: Metadata, header: dict[str, str]
) -> None:
    wanting(writer)
    proxy.rule = answering(f"{metadata.url}/latest/meta-data", header=header)  # type: ignore[assignment]
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
    assert metadata.seen == []


def test_redirect_leads_to_no_other_host(cube: Cube, writer: Author, proxy: Proxy, metadata: Metadata) -> None:
    wanting(writer)
    lead = answering(f"{proxy.url}/model.git/info/lfs/{OID}")

    def rule(request: Request) -> Fault | None:
        if request.method == "GET" and OID in request.path:
            return Fault(302, headers={"Location": f"{metadata.url}/latest"})
        return lead(request)  # type: ignore[operator, no-any-return]

    proxy.rule = rule
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
    assert metadata.seen == []


def test_redirects_end(cube: Cube, writer: Author, proxy: Proxy) -> None:
    wanting(writer)
    lead = answering(f"{proxy.url}/model.git/info/lfs/{OID}?0")

    def rule(request: Request) -> Fault | None:
        if request.method == "GET" and OID in request.path:
            number = int(request.path.rpartition("?")[2])
            return Fault(302, headers={"Location": f"{request.path.rpartition('?')[0]}?{number + 1}"})
        return lead(request)  # type: ignore[operator, no-any-return]

    proxy.rule = rule
    ended = Cube(cube.folder, cube.url, {"requestRetries": 0}).download()
    assert (ended.code, ended.last["reason"]) == (10, "Redirects"), ended.output
    assert proxy.count("GET", OID) == 6


def test_wrong_content_is_neither_stored_nor_logged(
    cube: Cube, writer: Author, proxy: Proxy, metadata: Metadata
) -> None:
    """A host that the spec lists, which answers with something else than the object."""
    wanting(writer)
    proxy.rule = answering(f"{metadata.url}/x")  # type: ignore[assignment]
    ended = cube.download(hosts=[metadata.url.removeprefix("http://")])
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output
    assert metadata.seen
    said = reported(cube, ended.output)
    assert SECRET.decode() not in said
    assert hashlib.sha256(SECRET).hexdigest() not in said
    assert not list(cube.claim.rglob("*.part"))


def test_more_than_was_announced_is_not_taken(cube: Cube, writer: Author, proxy: Proxy) -> None:
    wanting(writer)
    lead = answering(f"{proxy.url}/model.git/info/lfs/{OID}")

    def rule(request: Request) -> Fault | None:
        if request.method == "GET" and OID in request.path:
            return Fault(200, b"x" * (8 << 20))
        return lead(request)  # type: ignore[operator, no-any-return]

    proxy.rule = rule
    ended = Cube(cube.folder, cube.url, {"requestRetries": 0}).download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output
    assert not list(cube.claim.rglob("*.part"))


NO_ANSWERS = [
    b"x" * (5 << 20),
    b"[" * 100_000,
    b"{}",
    b'{"objects": [1]}',
    b'{"objects": [{"oid": "../../../x", "actions": {}}]}',
    b'{"objects": [{"oid": "' + b"ab" * 32 + b'", "actions": {"download": {"href": 1}}}]}',
    b'{"objects": [{"oid": "'
    + b"ab" * 32
    + b'", "actions": {"download": {"href": "http://h", "header": {"a\\n": "b"}}}}]}',
    b'{"objects": [{"oid": "' + b"ab" * 32 + b'", "error": {"code": "x", "message": "\\u001b[2J"}}]}',
]


def test_answers_that_are_none(cube: Cube, writer: Author, proxy: Proxy) -> None:
    wanting(writer)
    for body in NO_ANSWERS:
        proxy.rule = lambda request, body=body: (
            Fault(200, body, JSON) if request.path.endswith("/objects/batch") else None
        )
        ended = Cube(cube.folder, cube.url, {"requestRetries": 0}).download()
        assert ended.code in (4, 5, 10), ended.output
        assert ended.last["reason"] in ("BadAnswer", "RequestFailed")
        assert "Traceback" not in ended.output
        assert "\x1b" not in ended.output
        assert len(ended.output) < 20_000


@pytest.mark.parametrize("where", ["object", "folder", "objects", "lfs"])
def test_links_to_other_files_are_not_uploaded(cube: Cube, writer: Author, forge: Forge, where: str) -> None:
    """Whoever may write to the claim commits a pointer to a file of the pod, and puts a link where its content is."""
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    secret = cube.folder / "secret"
    secret.mkdir()
    oid = hashlib.sha256(SECRET).hexdigest()
    inside = Path("lfs", "objects", oid[:2], oid[2:4], oid)
    target = secret / Path(*inside.parts[{"object": 5, "folder": 3, "objects": 2, "lfs": 1}[where] :])
    file = secret / "token" if where == "object" else target
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(SECRET)
    linked = cube.clone / ".git" / Path(*inside.parts[: {"object": 5, "folder": 3, "objects": 2, "lfs": 1}[where]])
    linked.parent.mkdir(parents=True, exist_ok=True)
    linked.symlink_to(file if where == "object" else secret)
    (cube.clone / "1.big").write_bytes(pointer(SECRET))
    (cube.clone / ".gitattributes").write_bytes(ATTRIBUTES[".gitattributes"])
    cube.git("-c", "filter.lfs.clean=cat", "add", "1.big", ".gitattributes")
    cube.git("commit", "-q", "-m", "Mine")
    ended = cube.upload()
    assert ended.code == 5, ended.output
    assert ended.last["reason"] in ("Link", "LfsMissing")
    assert list(forge.objects().iterdir()) == []


def test_objects_that_are_not_what_their_name_says_are_not_uploaded(cube: Cube, writer: Author, forge: Forge) -> None:
    """Hard links and other files of the right size."""
    writer.commit({"a": b"1"})
    assert cube.download().code == 0
    path = cube.clone / ".git/lfs/objects" / OID[:2] / OID[2:4] / OID
    path.parent.mkdir(parents=True)
    path.write_bytes(SECRET)
    text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(SECRET)}\n"
    (cube.clone / "1.big").write_text(text)
    (cube.clone / ".gitattributes").write_bytes(ATTRIBUTES[".gitattributes"])
    cube.git("-c", "filter.lfs.clean=cat", "add", "1.big", ".gitattributes")
    cube.git("commit", "-q", "-m", "Mine")
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "LfsMissing"), ended.output
    assert list(forge.objects().iterdir()) == []


def test_uploads_go_to_no_other_host(cube: Cube, writer: Author, proxy: Proxy, metadata: Metadata) -> None:
    writer.commit({"a": b"1", **ATTRIBUTES})
    assert cube.download().code == 0
    data = b"x" * len(SECRET)
    oid = hashlib.sha256(data).hexdigest()
    (cube.clone / "1.big").write_bytes(data)
    cube.git("-c", "filter.lfs.clean=git-lfs clean -- %f", "add", "1.big")
    cube.git("commit", "-q", "-m", "Mine")

    def rule(request: Request) -> Fault | None:
        if not request.path.endswith("/objects/batch"):
            return None
        objects = [{"oid": oid, "size": len(data), "actions": {"upload": {"href": f"{metadata.url}/up"}}}]
        return Fault(200, json.dumps({"objects": objects}).encode(), JSON)

    proxy.rule = rule
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (5, "OtherHost"), ended.output
    assert metadata.seen == []


def test_pointer_that_only_git_lfs_knows_starts_no_request(cube: Cube, writer: Author, metadata: Metadata) -> None:
    """An old form of a pointer: the filter of Git LFS would fetch its content from where `.lfsconfig` says."""
    text = f"version http://git-media.io/v/2\noid sha256:{OID}\nsize {len(SECRET)}\n"
    config = f"[lfs]\n\turl = {metadata.url}/lfs\n".encode()
    writer.commit({**ATTRIBUTES, "1.big": text.encode(), ".lfsconfig": config})
    ended = cube.download()
    assert ended.code != 0 or tree(cube.clone)["1.big"] == text.encode(), ended.output
    assert metadata.seen == []
