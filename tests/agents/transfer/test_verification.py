"""Objects are compared with the checksums of the server."""

import gzip
import hashlib
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from stowplan.agents.transfer.remotes.s3 import checksum
from stowplan.agents.transfer.remotes.s3.protocol.answers import document
from tests.agents.ended import Ended
from tests.agents.transfer.agent import Cube, files
from tests.agents.transfer.faults import Fault, Proxy, Request, Rule, once_each
from tests.agents.transfer.odd_store import BORN, Asked, Odd, OddStore
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large

DATA = large(23_000_000)
PIECE = 5 << 20
CRCS = ("CRC32", "CRC32C", "CRC64NVME")
FLIPPED = Fault(flip=True)
ETAG = "0123456789abcdef0123456789abcdef"
KMS = {"x-amz-server-side-encryption": "aws:kms"}
UNVERIFIED = "The server gives no checksum that can be computed: length and ETag count"


def put_in_parts(storage: Storage, sizes: list[int], algorithm: str = "", kind: str = "") -> None:
    """`DATA` as the object `large`, uploaded in parts of these sizes, with a checksum as other programs ask for it."""
    asked = {"x-amz-checksum-algorithm": algorithm, "x-amz-checksum-type": kind} if algorithm else {}
    header = f"x-amz-checksum-{algorithm.lower()}"
    listed, offset = "", 0
    with storage.client() as client:
        begun = client.call("POST", "large", [("uploads", "")], headers=asked).content
        upload = document(begun, "a beginning", "InitiateMultipartUploadResult").text("UploadId")
        for number, size in enumerate(sizes, 1):
            data, offset = DATA[offset : offset + size], offset + size
            text = b64encode(digest_of(algorithm, data)).decode() if algorithm else ""
            query = [("partNumber", str(number)), ("uploadId", upload)]
            answer = client.call("PUT", "large", query, data, headers={header: text} if algorithm else {})
            own = f"<Checksum{algorithm}>{text}</Checksum{algorithm}>" if algorithm else ""
            listed += f"<Part><PartNumber>{number}</PartNumber><ETag>{answer.headers['etag']}</ETag>{own}</Part>"
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        asked.pop("x-amz-checksum-algorithm", None)
        client.call("POST", "large", [("uploadId", upload)], body, headers=asked)
    assert offset == len(DATA)


def digest_of(algorithm: str, data: bytes) -> bytes:
    if algorithm == "CRC32":
        return zlib.crc32(data).to_bytes(4, "big")
    if algorithm in CRCS:
        return checksum.digest_of(algorithm.lower(), data)
    return hashlib.new(algorithm, data, usedforsecurity=False).digest()


def even(piece: int = PIECE) -> list[int]:
    return [min(piece, len(DATA) - at) for at in range(0, len(DATA), piece)]


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def without_checksums(rule: Rule) -> Rule:
    """The same faults of a store that has no checksums."""
    return lambda request: replace(rule(request) or Fault(), without="x-amz-checksum")


def messages(ended: Ended) -> set[str]:
    return {each["message"] for each in ended.events}


@pytest.mark.parametrize(
    ("algorithm", "kind", "piece"),
    [
        ("CRC32", "COMPOSITE", PIECE),
        ("CRC32", "FULL_OBJECT", 6_000_000),
        ("CRC32C", "COMPOSITE", PIECE),
        ("CRC32C", "FULL_OBJECT", 6_000_000),
        ("CRC64NVME", "FULL_OBJECT", 6_000_000),
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


def test_checksum_that_the_store_makes_by_itself(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """The server of the tests adds a CRC-64/NVME to what is uploaded in parts without a checksum, as S3 does."""
    put_in_parts(storage, even())
    proxy.rule = once_each(FLIPPED, lambda request: request.range is not None)
    ended = watched.download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output
    ended = watched.download()
    assert ended.code == 0, ended.output
    assert ended.last["filesUnverified"] == 0


@pytest.mark.parametrize("verify", [True, False])
def test_etag_of_an_upload_in_parts_counts_on_request(
    storage: Storage, watched: Cube, proxy: Proxy, *, verify: bool
) -> None:
    """Of a store that has no checksum."""
    put_in_parts(storage, even())
    proxy.rule = without_checksums(once_each(FLIPPED, lambda request: request.range is not None))
    ended = watched.download(verifyParts=verify)
    assert ended.code == (11 if verify else 0), ended.output
    assert (UNVERIFIED in messages(ended)) == (not verify)
    assert ended.last["filesUnverified"] == (0 if verify else 1)
    assert watched.download(verifyParts=True).code == 0


@pytest.mark.parametrize("algorithm", [*CRCS, "SHA256"])
@pytest.mark.parametrize("composite", [False, True])
def test_checksum_of_a_small_object(odd: OddStore, tmp_path: Path, algorithm: str, *, composite: bool) -> None:
    """S3 with keys of a key service, whose ETags are no digests, gives a checksum with the object if it is asked."""
    data = large(100_000)
    digest = digest_of(algorithm, data)
    if composite:
        digest = digest_of(algorithm, digest)
    text = b64encode(digest).decode() + ("-1" if composite else "")
    odd.objects["small"] = Odd(data, f"{ETAG}-1" if composite else ETAG, headers=given(algorithm, text, KMS))
    ended = Cube(tmp_path, odd.storage).download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 0), ended.output
    assert {each.headers["x-amz-checksum-mode"] for each in odd.gets()} == {"ENABLED"}
    odd.objects["small"] = replace(odd.objects["small"], sent=b"x" + data[1:], modified=BORN + 9)
    ended = Cube(tmp_path, odd.storage).download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output


def given(algorithm: str, text: str, more: Mapping[str, str]) -> dict[str, str]:
    return {f"x-amz-checksum-{algorithm.lower()}": text, **more}


def test_store_that_refuses_to_be_asked_for_checksums(odd: OddStore, tmp_path: Path) -> None:
    """Backblaze B2 says `Unsupported header 'x-amz-checksum-mode' received for this API call`: xen-orchestra #8358."""
    odd.refuses = lambda asked: (400, "InvalidArgument") if "x-amz-checksum-mode" in asked.headers else None
    for name in "abc":
        odd.objects[name] = Odd(name.encode(), md5(name.encode()))
    odd.objects["large"] = Odd(DATA, md5(DATA))
    ended = Cube(tmp_path, odd.storage, options={"requestRetries": 0, "parallelism": 1}).download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 0), ended.output
    assert sum("x-amz-checksum-mode" in each.headers for each in odd.asked) == 1
    assert "The store refuses to be asked for checksums: ETags count alone" in messages(ended)


def test_checksum_that_is_none_is_not_believed(odd: OddStore, tmp_path: Path) -> None:
    odd.objects["a"] = Odd(b"a", md5(b"a"), headers={"x-amz-checksum-crc64nvme": "AAAA", "x-amz-checksum-sha1": "?"})
    ended = Cube(tmp_path, odd.storage).download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 0), ended.output


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
def test_parts_of_different_sizes_are_verified_by_length(
    storage: Storage, watched: Cube, proxy: Proxy, sizes: list[int]
) -> None:
    put_in_parts(storage, sizes)
    proxy.rule = without_checksums(lambda _: None)
    ended = watched.download(verifyParts=True)
    assert ended.code == 0, ended.output
    assert UNVERIFIED in messages(ended)
    assert files(watched.data) == {"large": DATA}


def test_etags_of_encrypted_objects_are_no_digests(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    """A server that encrypts with keys of a key service gives ETags that are digests of nothing that one can read."""
    storage.put({"a": b"a", "b": b"b", "large": DATA})
    kms = Fault(headers=KMS, flip=True)
    proxy.rule = without_checksums(lambda request: None if request.is_listing else kms)
    ended = watched.download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 3), ended.output
    assert {name: len(data) for name, data in files(watched.data).items()} == {"a": 1, "b": 1, "large": len(DATA)}
    assert UNVERIFIED in messages(ended)


@pytest.mark.parametrize("data", [b"x" * 1000, DATA, b""])
def test_etag_that_looks_like_a_digest_and_is_none(odd: OddStore, tmp_path: Path, data: bytes) -> None:
    """MinIO encrypts by itself where it is told to (MINIO_KMS_AUTO_ENCRYPTION): rclone #1824 and #2658."""
    odd.objects["a"] = Odd(data, ETAG)
    cube = Cube(tmp_path, odd.storage, options={"requestRetries": 0})
    ended = cube.download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output
    assert "`acceptUnverified: true`" in ended.last["message"]
    odd.asked.clear()
    ended = cube.download(acceptUnverified=True)
    assert (ended.code, ended.last["filesUnverified"]) == (0, 1), ended.output
    assert UNVERIFIED in messages(ended)
    assert files(cube.data) == {"a": data}
    assert sum("range" not in each.headers for each in odd.gets()) == (1 if data is DATA else 2)


@pytest.mark.parametrize("data", [b"x" * 1000, DATA])
def test_what_comes_differently_is_never_accepted(odd: OddStore, tmp_path: Path, data: bytes) -> None:
    def change(asked: Asked) -> None:
        if asked.method == "GET" and asked.key and not asked.headers.get("range", "").startswith("bytes=5"):
            odd.objects["a"] = replace(odd.objects["a"], sent=bytes([len(odd.asked)]) + data[1:])

    odd.objects["a"], odd.before = Odd(data, ETAG), change
    ended = Cube(tmp_path, odd.storage, options={"requestRetries": 1}).download(acceptUnverified=True)
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output
    assert files(tmp_path / "claim/data") == {}


@pytest.mark.parametrize("right", [True, False])
def test_checksum_of_the_store_decides_where_the_etag_is_wrong(odd: OddStore, tmp_path: Path, *, right: bool) -> None:
    """Of a store that gives it with HEAD alone."""
    text = b64encode(digest_of("CRC64NVME", b"data" if right else b"other")).decode()
    odd.objects["a"] = Odd(b"data", ETAG, only_head={"x-amz-checksum-crc64nvme": text})
    ended = Cube(tmp_path, odd.storage, options={"requestRetries": 0}).download(acceptUnverified=True)
    assert (ended.code, ended.last.get("filesUnverified")) == ((0, 0) if right else (11, 0)), ended.output


def test_encryption_that_head_alone_tells(odd: OddStore, tmp_path: Path) -> None:
    odd.objects["a"] = Odd(b"data", ETAG, only_head=KMS)
    ended = Cube(tmp_path, odd.storage, options={"requestRetries": 0}).download()
    assert (ended.code, ended.last["filesUnverified"]) == (0, 1), ended.output


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("unpacked", [b"text" * 1000, b"t"])
def test_body_that_is_unpacked_on_the_way(odd: OddStore, tmp_path: Path, unpacked: bytes, *, chunked: bool) -> None:
    """Google's store unpacks objects with Content-Encoding gzip, and says no length: rclone #1824, #2658."""
    packed = gzip.compress(b"text" * 1000, mtime=0)
    odd.objects["a.gz"] = Odd(packed, md5(packed), sent=unpacked, chunked=chunked)
    ended = Cube(tmp_path, odd.storage, options={"requestRetries": 0}).download()
    assert (ended.code, ended.last["reason"]) == (11, "WrongLength"), ended.output
    assert "Content-Encoding" in ended.last["message"]
    assert {each.headers["accept-encoding"] for each in odd.asked} == {"identity"}


def test_packed_object_comes_as_it_is(odd: OddStore, tmp_path: Path) -> None:
    packed = gzip.compress(b"text" * 1000, mtime=0)
    odd.objects["a.gz"] = Odd(packed, md5(packed), headers={"content-encoding": "gzip"})
    assert Cube(tmp_path, odd.storage).download().code == 0
    assert files(tmp_path / "claim/data") == {"a.gz": packed}


def test_store_that_knows_no_checksums(storage: Storage, watched: Cube, proxy: Proxy) -> None:
    put_in_parts(storage, even())

    def rule(request: Request) -> Fault | None:
        return Fault(status=501) if request.method == "HEAD" and "/large" in request.path else None

    proxy.rule = rule
    ended = watched.download(verifyParts=True)
    assert ended.code == 0, ended.output
    assert files(watched.data) == {"large": DATA}
