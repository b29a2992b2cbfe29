"""The Xet store of the tests' Hub, filled and read by hf-xet itself: blocks of chunks, and the chunks of each file.

It has the interface of the first version, without compression and without deduplication across files.
https://huggingface.co/docs/xet
"""

import hashlib
import re
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.agents.transfer.hub_base import SIGNATURE, Base, Hub, Refused, Server

TOKEN = "xet-CANARY-of-the-store"

CLIENT = {
    "HF_XET_CLIENT_LEGACY_DIRECT_XORB_UPLOAD": "true",
    "HF_XET_CLIENT_SHARD_API_VERSION": "1",
    "HF_XET_XORB_COMPRESSION_POLICY": "none",
    "HF_XET_CLIENT_RETRY_BASE_DELAY": "100ms",
}
"""Makes the client speak that version."""

_CHUNK = struct.Struct("<B3sB3s")
_ENTRY = struct.Struct("<32sIIII")
_VERIFIED, _EXTENDED = 1 << 31, 1 << 30


@dataclass(frozen=True)
class Term:
    """Some chunks of a block."""

    block: str
    size: int
    start: int
    end: int


@dataclass
class Xet:
    """A running store."""

    url: str = ""
    blocks: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, list[Term]] = field(default_factory=dict)
    """By the name of a file in the store."""
    names: dict[str, str] = field(default_factory=dict)
    """By SHA-256: the name in the store."""
    sent: list[tuple[str, int]] = field(default_factory=list)
    """Blocks and the bytes of them that were asked for."""
    seconds: float = 0
    """Wait before a block is sent."""
    valid_seconds: int = 3600
    """How long its tokens are valid, as it says."""

    def content(self, name: str) -> bytes:
        """All bytes of a file."""
        return b"".join(b"".join(self.chunks(each.block)[each.start : each.end]) for each in self.files[name])

    def connection(self) -> tuple[dict[str, Any], dict[str, str]]:
        """What the Hub answers to whoever asks for access: body and headers."""
        until = int(time.time()) + self.valid_seconds
        body = {"accessToken": TOKEN, "exp": until, "casUrl": self.url}
        headers = {"x-xet-access-token": TOKEN, "x-xet-token-expiration": str(until), "x-xet-cas-url": self.url}
        return body, headers

    def chunks(self, block: str) -> list[bytes]:
        return [data for _, data in _chunks(self.blocks[block])]

    def places(self, block: str) -> list[int]:
        """Where the chunks of a block begin in it, and where the last one ends."""
        found = list(_chunks(self.blocks[block]))
        return [place for place, _ in found] + [found[-1][0] + _CHUNK.size + len(found[-1][1])]


def _chunks(block: bytes) -> list[tuple[int, bytes]]:
    found, place = [], 0
    while place + _CHUNK.size <= len(block):
        version, packed, scheme, size = _CHUNK.unpack_from(block, place)
        length = int.from_bytes(packed, "little")
        if version or length != int.from_bytes(size, "little"):
            break  # what follows describes the block
        assert scheme == 0
        begin = place + _CHUNK.size
        found.append((place, block[begin : begin + length]))
        place = begin + length
    return found


def _name(raw: bytes) -> str:
    """A hash is four numbers, each with its last byte first."""
    return "".join(f"{number:016x}" for number in struct.unpack("<4Q", raw))


class XetHandler(Base):
    """The store itself."""

    xet: Xet

    def _route(self) -> None:
        path = urlsplit(self.path).path
        if path.startswith("/block/"):
            self._block(path.rpartition("/")[2])
            return
        if self.headers.get("authorization") != f"Bearer {TOKEN}":
            self.hub.leaks.append(f"{self.path}: {self.headers.get('authorization')}")
            raise Refused(401, "", "The token is not one of this store")
        if found := re.fullmatch(r"/v1/xorbs/default/(\w+)", path):
            self.xet.blocks[found[1]] = self.body
            self._json({"was_inserted": True})
        elif path in ("/v1/shards", "/shards"):
            self._shard()
            self._json({"result": 1})
        elif found := re.fullmatch(r"/v1/reconstructions/(\w+)", path):
            self._reconstruction(found[1])
        else:
            raise Refused(404, "", "Not found")

    def _shard(self) -> None:
        """https://huggingface.co/docs/xet/shard"""
        place = 48
        while (header := _ENTRY.unpack_from(self.body, place))[0] != b"\xff" * 32:
            name, flags, count = _name(header[0]), header[1], header[2]
            entries = [_ENTRY.unpack_from(self.body, place + 48 * (1 + number)) for number in range(count)]
            self.xet.files[name] = [Term(_name(each[0]), each[2], each[3], each[4]) for each in entries]
            place += 48 * (1 + count + (count if flags & _VERIFIED else 0))
            if flags & _EXTENDED:
                digest = _name(self.body[place : place + 32])
                # The store looks at what it was given, as the real one does.
                if hashlib.sha256(self.xet.content(name)).hexdigest() != digest:
                    raise Refused(400, "", "The content does not have the given digest")
                self.xet.names[digest] = name
                self.hub.store.keep(self.xet.content(name))
                place += 48

    def _reconstruction(self, name: str) -> None:
        """The terms that hold a range of a file, and where their bytes are."""
        if name not in self.xet.files:
            raise Refused(404, "", "Not found")
        size = sum(each.size for each in self.xet.files[name])
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("range", "bytes=0-"))
        assert found
        start, end = int(found[1]), min(size, int(found[2] or size) + 1)
        if start >= size:
            raise Refused(416, "", "Range not satisfiable")
        terms, skipped, offset = [], None, 0
        for each in self.xet.files[name]:
            for number, data in enumerate(self.xet.chunks(each.block)[each.start : each.end], each.start):
                if offset + len(data) > start and offset < end:
                    skipped = start - offset if skipped is None else skipped
                    terms.append(Term(each.block, len(data), number, number + 1))
                offset += len(data)
        self._json({"offset_into_first_range": skipped or 0, **self._places(_joined(terms))})

    def _places(self, terms: list[Term]) -> dict[str, Any]:
        listed: list[dict[str, Any]] = []
        fetch: dict[str, list[dict[str, Any]]] = {}
        for each in terms:
            places, span = self.xet.places(each.block), {"start": each.start, "end": each.end}
            listed.append({"hash": each.block, "unpacked_length": each.size, "range": span})
            where = {"start": places[each.start], "end": places[each.end] - 1}
            url = f"{self.xet.url}/block/{each.block}?{SIGNATURE}&range={each.start}-{each.end}"
            fetch.setdefault(each.block, []).append({"range": span, "url": url, "url_range": where})
        return {"terms": listed, "fetch_info": fetch}

    def _block(self, name: str) -> None:
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        if "authorization" in self.headers or not found:
            raise Refused(400, "", "Only one auth mechanism allowed")
        data = self.xet.blocks[name][int(found[1]) : int(found[2]) + 1]
        self.xet.sent.append((name, len(data)))
        time.sleep(self.xet.seconds)
        content = {"content-range": f"bytes {found[1]}-{found[2]}/{len(self.xet.blocks[name])}"}
        self._head(206, {**content, "content-length": str(len(data))})
        self.wfile.write(data)


def _joined(terms: list[Term]) -> list[Term]:
    """Chunks that follow each other in one block are one term."""
    found: list[Term] = []
    for each in terms:
        last = found[-1] if found else None
        if last and (last.block, last.end) == (each.block, each.start):
            found[-1] = Term(last.block, last.size + each.size, last.start, each.end)
        else:
            found.append(each)
    return found


@contextmanager
def serving(hub: Hub) -> Iterator[Xet]:
    """A store for a Hub that runs."""
    xet = Xet()
    server = Server(("127.0.0.1", 0), type("Handler", (XetHandler,), {"hub": hub, "xet": xet}))
    xet.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    hub.xet = xet
    try:
        yield xet
    finally:
        server.shutdown()
        server.server_close()
