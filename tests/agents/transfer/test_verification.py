"""Objects are compared with the checksums of the server."""

import hashlib
import zlib
from base64 import b64encode

import pytest

from stowplan.agents.transfer.remotes.s3.protocol.answers import document
from tests.agents.ended import Ended
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.faults import Fault, Proxy, Request, once_each
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large

DATA = large(23_000_000)
PIECE = 5 << 20
FLIPPED = Fault(flip=True)
UNVERIFIED = "The server gives no checksum that can be computed: length and ETag count"


def put_in_parts(storage: Storage, sizes: list[int], algorithm: str = "", kind: str = "") -> None:
    """`DATA` as the object `large`, uploaded in parts of these sizes, with a checksum as other programs ask for it."""
    asked = {"x-amz-checksum-algorithm": algorithm, "x-amz-checksum-type": kind} if algorithm else {}
    header = f"x-amz-checksum-{algorithm.lower()}"
    listed, offset = "", 0
    with storage.wire() as wire:
        begun = wire.call("POST", "large", [("uploads", "")], headers=asked).content
        upload = document(begun, "a beginning", "InitiateMultipartUploadResult").text("UploadId")
        for number, size in enumerate(sizes, 1):
            data, offset = DATA[offset : offset + size], offset + size
            text = b64encode(digest_of(algorithm, data)).decode() if algorithm else ""
            query = [("partNumber", str(number)), ("uploadId", upload)]
            answer = wire.call("PUT", "large", query, data, headers={header: text} if algorithm else {})
            own = f"<Checksum{algorithm}>{text}</Checksum{algorithm}>" if algorithm else ""
            listed += f"<Part><PartNumber>{number}</PartNumber><ETag>{answer.headers['etag']}</ETag>{own}</Part>"
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        asked.pop("x-amz-checksum-algorithm", None)
        wire.call("POST", "large", [("uploadId", upload)], body, headers=asked)
    assert offset == len(DATA)


def digest_of(algorithm: str, data: bytes) -> bytes:
    if algorithm == "CRC32":
        return zlib.crc32(data).to_bytes(4, "big")
    return hashlib.new(algorithm, data, usedforsecurity=False).digest()


def even(piece: int = PIECE) -> list[int]:
    return [min(piece, len(DATA) - at) for at in range(0, len(DATA), piece)]


def messages(ended: Ended) -> set[str]:
    return {each["message"] for each in ended.events}


@pytest.mark.parametrize(
    ("algorithm", "kind", "piece"),
    [
        ("CRC32", "COMPOSITE", PIECE),
        ("CRC32", "FULL_OBJECT", 6_000_000),
        ("SHA1", "COMPOSITE", PIECE),
        ("SHA256", "COMPOSITE", 6_000_000),
    ],
)
def test_checksum_of_an_upload_in_parts(  # noqa: PLR0917 - fixtures
    storage: Storage, watched: Cube, proxy: Proxy, algorithm: str, kind: str, piece: int
) -> None:
    put_in_parts(storage, even(piece), algorithm, kind)
    proxy.rule = once_each(FLIPPED, lambda request: (request.range or "").startswith("bytes=10"))
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output
    assert files(watched.data) == {}
    ended = watched.download()
    assert ended.code == 0, ended.output
    assert files(watched.data) == {"large": DATA}
    assert UNVERIFIED not in messages(ended)


@pytest.mark.parametrize("verify", [True, False])
def test_etag_of_an_upload_in_parts_counts_on_request(
    storage: Storage, watched: Cube, proxy: Proxy, *, verify: bool
) -> None:
    """The server of the tests gives a CRC-64 by itself, for which Python has no fast code."""
    put_in_parts(storage, even())
    proxy.rule = once_each(FLIPPED, lambda request: request.range is not None)
    ended = watched.download(verifyParts=verify)
    assert ended.code == (11 if verify else 0), ended.output
    assert (UNVERIFIED in messages(ended)) == (not verify)
    assert watched.download(verifyParts=True).code == 0


def test_parts_of_an_earlier_attempt_are_verified_too(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """What lies in the file counts, not what once came."""
    put_in_parts(storage, even(), "CRC32", "COMPOSITE")
    proxy.rule = lambda request: Fault(status=503) if (request.range or "").startswith("bytes=20") else None
    assert watched.download().code == 10
    (part,) = (watched.state / "parts").glob("*.part")
    with part.open("r+b") as file:
        file.write(bytes([DATA[0] ^ 1]))
    proxy.rule = None
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest")
    assert watched.download().code == 0
    assert files(watched.data) == {"large": DATA}


@pytest.mark.parametrize("sizes", [[6_000_000, 5_500_000, 6_000_000, 5_500_000], [8_000_000, 9_000_000, 6_000_000]])
def test_parts_of_different_sizes_are_verified_by_length(storage: Storage, watched: Cube, sizes: list[int]) -> None:
    put_in_parts(storage, sizes)
    ended = watched.download(verifyParts=True)
    assert ended.code == 0, ended.output
    assert UNVERIFIED in messages(ended)
    assert files(watched.data) == {"large": DATA}


def test_etags_of_encrypted_objects_are_no_digests(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """A server that encrypts with keys of a key service gives ETags that are digests of nothing that one can read."""
    storage.put({"a": b"a", "b": b"b", "large": DATA})
    kms = Fault(headers={"x-amz-server-side-encryption": "aws:kms"}, flip=True)
    proxy.rule = lambda request: None if request.is_listing else kms
    ended = watched.download()
    assert ended.code == 0, ended.output
    assert {name: len(data) for name, data in files(watched.data).items()} == {"a": 1, "b": 1, "large": len(DATA)}
    assert {"The server's ETags are no digests: lengths are verified alone", UNVERIFIED} <= messages(ended)


def test_store_that_knows_no_checksums(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    put_in_parts(storage, even())

    def rule(request: Request) -> Fault | None:
        return Fault(status=501) if request.method == "HEAD" and "/large" in request.path else None

    proxy.rule = rule
    ended = watched.download(verifyParts=True)
    assert ended.code == 0, ended.output
    assert files(watched.data) == {"large": DATA}
