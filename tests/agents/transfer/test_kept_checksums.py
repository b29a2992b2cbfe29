"""Uploads send checksums, which the store keeps with the objects."""

import re
from base64 import b64encode
from pathlib import Path

import pytest

from stowplan.agents.transfer.remotes.s3.checksum import digest_of
from stowplan.agents.transfer.remotes.s3.protocol.answers import document
from tests.agents.transfer.agent import Cube
from tests.agents.transfer.odd_store import OddStore
from tests.agents.transfer.server import Storage
from tests.agents.transfer.test_download import large
from tests.agents.transfer.test_upload import write
from tests.agents.transfer.test_verification import messages

HEADER = "x-amz-checksum-crc64nvme"
FILES = {"empty": b"", "small": large(70_000), "middle": large(3_000_000), "large": large(12_000_000)}
"""The one of several MiB is sent from the disk, the large one in parts."""


def crc64(data: bytes) -> str:
    return b64encode(digest_of("crc64nvme", data)).decode()


def test_checksum_of_every_file_is_sent(odd: OddStore, tmp_path: Path) -> None:
    cube = Cube(tmp_path, odd.storage)
    write(cube.data, FILES)
    ended = cube.upload()
    assert ended.code == 0, ended.output
    assert {key: each.data for key, each in odd.objects.items()} == FILES
    assert {key: each.headers.get(HEADER) for key, each in odd.objects.items()} == {
        key: crc64(data) for key, data in FILES.items()
    }
    parts = [FILES["large"][at : at + (5 << 20)] for at in range(0, 12_000_000, 5 << 20)]
    sent = {each.query.partition("&")[0]: each.headers[HEADER] for each in odd.asked if "partNumber" in each.query}
    assert sent == {f"partNumber={number}": crc64(each) for number, each in enumerate(parts, 1)}
    assert re.findall("<ChecksumCRC64NVME>(.*?)<", odd.completed) == [crc64(each) for each in parts]


def test_real_store_takes_them(storage: Storage, cube: Cube) -> None:
    write(cube.data, FILES)
    ended = cube.upload()
    assert ended.code == 0, ended.output
    with storage.client() as client:
        for key, data in FILES.items():
            found = client.call("HEAD", key, headers={"x-amz-checksum-mode": "ENABLED"}).headers
            assert (found[HEADER], found["x-amz-checksum-type"]) == (crc64(data), "FULL_OBJECT")


@pytest.mark.parametrize("algorithm", ["", "CRC64NVME", "CRC32"])
def test_upload_that_somebody_has_begun_goes_on(storage: Storage, cube: Cube, algorithm: str) -> None:
    """Version 0.1.0 asked for no checksum, and other programs ask for others."""
    write(cube.data, FILES)
    with storage.client() as client:
        headers = {"x-amz-checksum-algorithm": algorithm} if algorithm else {}
        begun = client.call("POST", "large", [("uploads", "")], headers=headers).content
        upload = document(begun, "a beginning", "InitiateMultipartUploadResult").text("UploadId")
        data = FILES["large"][: 5 << 20]
        name = algorithm.lower() or "crc32"
        part = {f"x-amz-checksum-{name}": b64encode(digest_of(name, data)).decode()} if algorithm else {}
        client.call("PUT", "large", [("partNumber", "1"), ("uploadId", upload)], data, headers=part)
    ended = cube.upload()
    assert ended.code == 0, ended.output
    assert storage.read() == FILES


@pytest.mark.parametrize("refusal", [(400, "InvalidArgument"), (501, "NotImplemented")])
def test_store_that_refuses_them(odd: OddStore, tmp_path: Path, refusal: tuple[int, str]) -> None:
    """As Backblaze B2 did (400, diced/zipline #746) and Cloudflare R2 (501, aws/aws-sdk-js-v3 #6810)."""
    odd.refuses = lambda asked: refusal if any(name.startswith("x-amz-checksum") for name in asked.headers) else None
    cube = Cube(tmp_path, odd.storage, options={"requestRetries": 0, "parallelism": 1})
    write(cube.data, FILES)
    ended = cube.upload()
    assert ended.code == 0, ended.output
    assert {key: each.data for key, each in odd.objects.items()} == FILES
    refused = [each for each in odd.asked if HEADER in each.headers or "x-amz-checksum-algorithm" in each.headers]
    assert 1 <= len(refused) <= 2, "one at most of each thread"
    assert "The store refuses to keep checksums: objects are sent without" in messages(ended)


def test_store_that_knows_none(odd: OddStore, tmp_path: Path) -> None:
    """What it does not know it does not repeat, and nothing of it is in the request that completes the upload."""
    odd.keeps = False
    cube = Cube(tmp_path, odd.storage)
    write(cube.data, FILES)
    assert cube.upload().code == 0
    assert not [each for each in odd.asked if "partNumber" in each.query and HEADER in each.headers]
    assert "Checksum" not in odd.completed


@pytest.mark.parametrize("key", ["small", "large"])
def test_store_that_has_another_checksum(odd: OddStore, tmp_path: Path, key: str) -> None:
    odd.says = crc64(b"other")
    cube = Cube(tmp_path, odd.storage, options={"requestRetries": 0})
    write(cube.data, {key: FILES[key]})
    ended = cube.upload()
    assert (ended.code, ended.last["reason"]) == (11, "WrongDigest"), ended.output


def test_refusal_of_the_bytes_is_no_refusal_of_the_header(odd: OddStore, tmp_path: Path) -> None:
    """What the store found wrong is sent again with its checksum, and never without."""
    odd.refuses = lambda asked: (400, "BadDigest") if asked.method == "PUT" else None
    cube = Cube(tmp_path, odd.storage, options={"requestRetries": 1})
    write(cube.data, {"small": FILES["small"]})
    assert cube.upload().code == 10
    assert {HEADER in each.headers for each in odd.asked if each.method == "PUT"} == {True}
