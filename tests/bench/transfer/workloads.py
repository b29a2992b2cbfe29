"""The measured workloads, each with its bar for Stowplan."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import obstore

from stowplan.agents.transfer.remotes.s3.checksum import digest_of
from stowplan.agents.transfer.remotes.s3.protocol.answers import document
from tests.agents.transfer.faults import proxied
from tests.bench.transfer import peers
from tests.bench.transfer.bench import Bench, Run, say
from tests.bench.transfer.peers import OWN
from tests.bench.transfer.stub import pages
from tests.bench.transfer.table import Row

SMALL_SIZE = 65536
PART = 16 << 20
ALGORITHMS = ("", "CRC64NVME", "CRC32C", "CRC32", "SHA256")
UNCHANGED = 4000
LEAST_FREE_MIB = 3 << 10
"""Memory that must be left when an object of the largest size lies in memory."""


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    rounds: int
    big_mib: int
    small: int
    upload_rounds: int
    upload_small: int
    sparse_gib: int
    keys: int

    @property
    def big(self) -> int:
        return self.big_mib << 20


Workload = Callable[[Bench, Sizes], None]


def big(bench: Bench, sizes: Sizes) -> None:
    """Bar: at most 1.2 times the fastest peer, and at most 256 MiB."""
    fill_big(bench, sizes)
    bench.compare(f"download of {sizes.big_mib} MiB", sizes.rounds, "big", verified=True)


def checksums(bench: Bench, sizes: Sizes) -> None:
    """Bar: with CRC-64/NVME or CRC-32C at most 1.1 times as long as without a checksum."""
    fill_checksums(bench, sizes)
    runs: dict[str, list[Run]] = {algorithm: [] for algorithm in ALGORITHMS}
    for number in range(sizes.rounds):
        for algorithm, found in runs.items():
            say(f"checksums: {algorithm or 'none'}, round {number + 1}")
            bench.empty()
            found.append(bench.own(_prefix(algorithm)))
    for algorithm, found in runs.items():
        unproven = json.loads(found[0].output.splitlines()[-1])["filesUnverified"]
        seconds = [each.seconds for each in found]
        memory = max(each.memory for each in found)
        note = f"{unproven} of 1 file unverified"
        workload = f"download of {sizes.big_mib} MiB with {algorithm or 'no checksum'}"
        bench.rows.append(Row(workload, OWN, len(found), seconds, None, memory, None, note))


def small(bench: Bench, sizes: Sizes) -> None:
    """Bar: at most 1.3 times the fastest peer, and faster than s5cmd."""
    fill_small(bench, sizes.small)
    bench.compare(f"download of {sizes.small} objects of 64 KiB", sizes.rounds, "small")


def killed(bench: Bench, sizes: Sizes) -> None:
    """Bar: at most 60 % of the bytes are fetched again, and the hash is equal."""
    wanted = fill_big(bench, sizes)
    bench.empty()
    side = bench.side("big")
    with subprocess.Popen(peers.own(side), env=peers.environment(side), stderr=subprocess.DEVNULL) as process:
        parts = bench.claim / ".stowplan/c/parts"
        bench.wait_for(process, lambda: sum(map(_blocks, parts.glob("*.part"))) >= sizes.big // 2)
        process.kill()
    ran = bench.own("big")
    events = [json.loads(line) for line in ran.output.splitlines()]
    there = next((each["bytes"] for each in events if each["message"].startswith("Goes on")), 0)
    equal = _sha256(bench.claim / "data" / "big") == wanted
    found = f"{100 - 100 * there // sizes.big} % fetched again, hash {'equal' if equal else 'DIFFERS'}"
    bench.note(f"SIGKILL at half of {sizes.big_mib} MiB, then again", ran, found)


def sparse(bench: Bench, sizes: Sizes) -> None:
    """Bar: memory does not depend on the size of the object."""
    workload = f"download of {sizes.sparse_gib} GiB that are empty"
    free = _free_mib()
    if free < (sizes.sparse_gib << 10) + LEAST_FREE_MIB:
        bench.note(workload, None, f"left out: {free} MiB of memory are free", rounds=0)
        return
    # Not sent, but laid into the folder of the server: so it has no checksum, which would take longer than the copy.
    place = bench.folder / "server" / "data" / bench.storage.bucket / "sparse" / "sparse"
    place.parent.mkdir()
    with place.open("wb") as file:
        file.truncate(sizes.sparse_gib << 30)
    bench.empty()
    ran = bench.own("sparse")
    size = (bench.claim / "data" / "sparse").stat().st_size
    bench.note(workload, ran, "complete" if size == sizes.sparse_gib << 30 else f"{size} bytes")
    bench.empty()
    place.unlink()


def again(bench: Bench, sizes: Sizes) -> None:
    """Bar: no GET of an object, and at most 1.5 s."""
    fill_small(bench, UNCHANGED, "again")
    bench.empty()
    bench.own("again")
    runs = sorted((bench.own("again") for _ in range(3)), key=lambda each: each.seconds)
    with proxied(bench.storage.endpoint) as proxy:
        bench.own("again", {"S3_ENDPOINT": proxy.url})
        gets = proxy.count("GET")
    bench.note(f"again with {UNCHANGED} objects unchanged", runs[1], f"{gets} objects fetched", rounds=3)


def listing(bench: Bench, sizes: Sizes) -> None:
    """Bar: below 300 MiB."""
    bench.empty()
    with pages(sizes.keys) as url:
        ran = bench.run(peers.own(bench.side("listing")), {"S3_ENDPOINT": url})
    last = json.loads(ran.output.splitlines()[-1])
    bench.note(f"listing of {sizes.keys} keys", ran, f"{last['filesTotal']} listed, start included")


def upload_big(bench: Bench, sizes: Sizes) -> None:
    """No bar."""
    bench.empty()
    _random_file(bench.claim / "data" / "big", sizes.big_mib)
    bench.compare(f"upload of {sizes.big_mib} MiB", sizes.upload_rounds, "up-big", upload=True)


def upload_small(bench: Bench, sizes: Sizes) -> None:
    """No bar."""
    bench.empty()
    for number in range(sizes.upload_small):
        path = bench.claim / "data" / f"{number // 1000:03}" / f"{number:06}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(SMALL_SIZE))
    workload = f"upload of {sizes.upload_small} files of 64 KiB"
    bench.compare(workload, sizes.upload_rounds, "up-small", upload=True)


WORKLOADS: Mapping[str, Workload] = {
    "big": big,
    "checksums": checksums,
    "killed": killed,
    "sparse": sparse,
    "small": small,
    "again": again,
    "listing": listing,
    "upload-big": upload_big,
    "upload-small": upload_small,
}


def fill_big(bench: Bench, sizes: Sizes) -> str:
    """The big object, uploaded in parts as programs do it; gives its digest."""
    note = bench.folder / "big.sha256"
    if not note.exists():
        say("fills the server with the big object")
        digest = hashlib.sha256()
        with tempfile.TemporaryFile(dir=bench.folder) as file:
            for _ in range(sizes.big_mib):
                data = os.urandom(1 << 20)
                digest.update(data)
                file.write(data)
            file.seek(0)
            obstore.put(bench.storage.store, "big/big", file, chunk_size=PART)
        note.write_text(digest.hexdigest(), encoding="ascii")
    return note.read_text(encoding="ascii")


def fill_checksums(bench: Bench, sizes: Sizes) -> None:
    """The same object with a checksum of each kind."""
    whole = bench.claim.parent / "checksums"
    _random_file(whole, sizes.big_mib)
    for algorithm in ALGORITHMS:
        say(f"fills the server with an object with {algorithm or 'no checksum'}")
        if algorithm:
            _put_in_parts(bench, f"{_prefix(algorithm)}/big", whole, algorithm)
            continue
        # Laid into the folder of the server, which so knows no checksum of it.
        place = bench.folder / "server" / "data" / bench.storage.bucket / _prefix(algorithm) / "big"
        place.parent.mkdir()
        shutil.copyfile(whole, place)
    whole.unlink()


def _prefix(algorithm: str) -> str:
    return f"checksum-{algorithm or 'none'}"


def _put_in_parts(bench: Bench, key: str, path: Path, algorithm: str) -> None:
    """Uploads a file as other programs do that ask for a checksum of all bytes, or of the parts with SHA-256."""
    element, parts = f"Checksum{algorithm}", ""
    with bench.storage.client() as client, path.open("rb") as file:
        kind = "COMPOSITE" if algorithm == "SHA256" else "FULL_OBJECT"
        asked = {"x-amz-checksum-algorithm": algorithm, "x-amz-checksum-type": kind}
        begun = client.call("POST", key, [("uploads", "")], headers=asked).content
        upload = document(begun, "a beginning", "InitiateMultipartUploadResult").text("UploadId")
        number = 0
        while data := file.read(PART):
            number += 1
            text = b64encode(digest_of(algorithm.lower(), data)).decode()
            header = {f"x-amz-checksum-{algorithm.lower()}": text}
            answer = client.call("PUT", key, [("partNumber", str(number)), ("uploadId", upload)], data, headers=header)
            etag = answer.headers["etag"]
            parts += f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag><{element}>{text}</{element}></Part>"
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        client.call("POST", key, [("uploadId", upload)], body, headers={"x-amz-checksum-type": kind})


def fill_small(bench: Bench, count: int, prefix: str = "small") -> None:
    """So many small objects, a thousand in each folder."""
    say(f"fills the server with {count} objects")
    for number in range(count):
        obstore.put(bench.storage.store, f"{prefix}/{number // 1000:03}/{number:06}", os.urandom(SMALL_SIZE))


def _random_file(path: Path, mib: int) -> None:
    with path.open("wb") as file:
        for _ in range(mib):
            file.write(os.urandom(1 << 20))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _blocks(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:
        return 0


def _free_mib() -> int:
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return next(int(line.split()[1]) >> 10 for line in text.splitlines() if line.startswith("MemAvailable"))


def run(bench: Bench, sizes: Sizes, names: list[str]) -> None:
    """The chosen workloads, in the order of the table."""
    for name, workload in WORKLOADS.items():
        if name in names:
            begin = time.monotonic()
            workload(bench, sizes)
            say(f"{name} took {time.monotonic() - begin:.0f} s")
