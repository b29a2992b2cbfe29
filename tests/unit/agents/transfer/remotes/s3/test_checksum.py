"""Checksums of objects, combined from their pieces in any order."""

import os
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.agents.transfer.parts import Extent
from stowplan.agents.transfer.remotes.s3.checksum import CRCS, Checksum, Proof, digest_of, from_headers, joined

DATA = bytes(range(251)) * 40
SIZE = len(DATA)


@pytest.fixture
def descriptor(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "data").write_bytes(DATA)
    opened = os.open(tmp_path / "data", os.O_RDONLY)
    yield opened
    os.close(opened)


def nothing() -> None:
    """Never stop the work."""


@pytest.mark.parametrize(
    ("algorithm", "value"), [("crc64nvme", "ae8b14860a799888"), ("crc32c", "e3069283"), ("crc32", "cbf43926")]
)
def test_known_values(algorithm: str, value: str) -> None:
    """Those of `123456789`: https://reveng.sourceforge.io/crc-catalogue/all.htm."""
    assert digest_of(algorithm, b"123456789").hex() == value


@pytest.mark.parametrize("algorithm", CRCS)
@given(st.binary(max_size=2000), st.binary(max_size=2000))
def test_checksums_of_two_strings_are_combined(algorithm: str, first: bytes, second: bytes) -> None:
    found = joined(algorithm, digest_of(algorithm, first), digest_of(algorithm, second), len(second))
    assert found == digest_of(algorithm, first + second)


@pytest.mark.parametrize("algorithm", CRCS)
def test_checksums_of_terabytes_are_combined(algorithm: str) -> None:
    """From the left as from the right, whatever lengths the strings have."""
    join = partial(joined, algorithm)
    one, other, third = (digest_of(algorithm, each) for each in (b"one", b"other", b"third"))
    length, last = (5 << 40) + 12_345, 1 << 41
    assert join(join(one, other, length), third, last) == join(one, join(other, third, last), length + last)


def extents(part: int) -> list[Extent]:
    return [Extent(n, at, min(at + part, SIZE)) for n, at in enumerate(range(0, SIZE, part))]


def seen(proof: Proof, part: int, every: int) -> None:
    """Every so many parts come under a watch, the last one first, in chunks of an odd size."""
    for extent in reversed(extents(part)[::every]):
        watch = proof.watch(extent)
        if watch:
            for at in range(extent.start, extent.end, 37):
                watch.update(memoryview(DATA)[at : min(at + 37, extent.end)])
            watch.end()


@pytest.mark.parametrize("every", [1, 2, 100])
@pytest.mark.parametrize(("piece", "part"), [(1000, 1000), (1000, 3000), (3000, 1000), (1000, 1500), (SIZE, 1000)])
@pytest.mark.parametrize("algorithm", [*CRCS, "sha1", "sha256", "md5"])
def test_pieces_in_any_order(descriptor: int, algorithm: str, piece: int, part: int, every: int) -> None:
    """Bytes that were not watched are read from the file."""

    def digest(data: bytes) -> bytes:
        return digest_of(algorithm, data)

    composite = digest(b"".join(digest(DATA[at : at + piece]) for at in range(0, SIZE, piece)))
    proof = Proof(Checksum(algorithm, composite, of_pieces=True), SIZE, piece)
    seen(proof, part, every)
    assert proof.found(descriptor, nothing) == composite
    if algorithm in CRCS or piece == SIZE:
        plain = Proof(Checksum(algorithm, digest(DATA)), SIZE, piece)
        seen(plain, part, every)
        assert plain.found(descriptor, nothing) == digest(DATA)


def test_checksum_is_of_the_received_bytes_and_not_of_the_file(descriptor: int) -> None:
    proof = Proof(Checksum("crc32", b"right"), SIZE, 1000)
    seen(proof, 1000, 1)
    right = proof.found(descriptor, nothing)
    watch = proof.watch(Extent(1, 1000, 2000))
    assert watch
    watch.update(memoryview(b"x" * 1000))
    watch.end()
    assert proof.found(descriptor, nothing) != right


def test_the_cheapest_checksum_is_taken() -> None:
    text, long = b64encode(b"abcd").decode(), b64encode(b"12345678901234567890").decode()
    headers = {"x-amz-checksum-sha1": long, "x-amz-checksum-crc32": f"{text}-3", "x-amz-checksum-type": "COMPOSITE"}
    assert from_headers(headers) == Checksum("crc32", b"abcd", of_pieces=True, pieces=3)
    assert from_headers({"x-amz-checksum-sha1": long, "x-amz-checksum-type": "FULL_OBJECT"}) == Checksum(
        "sha1", b"12345678901234567890"
    )


@pytest.mark.parametrize("text", ["", "?", "AAAA", "AAAAAAAAAAA", "AAAAAAAAAAA=\n", "-", "-1", "é"])
def test_what_is_no_checksum_is_passed_over(text: str) -> None:
    assert from_headers({"x-amz-checksum-crc64nvme": text}) is None
