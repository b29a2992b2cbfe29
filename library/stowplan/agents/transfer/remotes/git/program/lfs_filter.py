"""Program that Git starts to put the content of Git LFS into a work tree, and to compare it with a commit.

It reads objects by an open folder of the claim, follows no link there, and stores nothing. The program `git-lfs` opens
them by their paths, and keeps a copy of whatever it compares; people with write access to the claim could make it take
other files of the pod into the claim.

The protocol is Git's, for filters that process many files: gitattributes(5), "Long Running Filter Process".
"""

import hashlib
import os
import shlex
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO

import stowplan
from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import POINTER_LIMIT, Pointer, object_key, pointer_of

_MOST = 65516
"""Maximum number of bytes in a packet, without its length."""

_IN_MEMORY = 1 << 20
"""Maximum size in bytes of a file that is kept in memory; larger ones lie in scratch."""

_MARK = b"0000"
"""End of a list of packets. The length of each packet has as many characters, and counts them."""


def command(descriptor: int) -> str:
    """Return the value of Git's setting `filter.lfs.process`; `descriptor` is that of Git's own directory in the claim.

    Git and this program inherit it. The work tree is the working directory, and no module is imported from there.
    """
    # Git gets no variables, so that of the image with the path of modules has no effect.
    paths = [str(Path(each).parent) for each in stowplan.__path__]
    start = f"import sys; sys.path[:0] = {paths!r}; from {__name__} import main; main()"
    return shlex.join([sys.executable, "-IS", "-c", start, str(descriptor)])


class Filter:
    """Conversation with Git, which writes to `source` and reads `sink`. `inside` is Git's own folder in the claim."""

    def __init__(self, inside: ClaimFolder, source: IO[bytes], sink: IO[bytes]) -> None:
        self._inside, self._source, self._sink = inside, source, sink

    def run(self) -> None:
        """Answer all requests until Git closes the conversation."""
        list(self._packets())
        self._say(b"git-filter-server", b"version=2")
        list(self._packets())
        self._say(b"capability=clean", b"capability=smudge")
        while request := list(self._packets()):
            (self._smudge if b"command=smudge\n" in request else self._clean)()

    def _clean(self) -> None:
        """Answer with the pointer to the content that Git sends, or with the content itself if it is a pointer."""
        digest, size, head = hashlib.sha256(), 0, b""
        for packet in self._packets():
            digest.update(packet)
            size += len(packet)
            head += packet[: POINTER_LIMIT - len(head)]
        is_pointer = size < POINTER_LIMIT and pointer_of(head)
        text = head if is_pointer or not size else Pointer(digest.hexdigest(), size).text.encode()
        self._send(BytesIO(text), len(text))

    def _smudge(self) -> None:
        """Answer with the content of the pointer that Git sends, or with what it sends if that is no pointer."""
        with SpooledTemporaryFile(_IN_MEMORY) as given:
            for packet in self._packets():
                given.write(packet)
            size = given.tell()
            given.seek(0)
            known = pointer_of(given.read()) if size < POINTER_LIMIT else None
            if known is None:
                given.seek(0)
                self._send(given, size)
                return
        try:
            file = os.fdopen(self._object(known), "rb")
        except OSError:
            # The object is missing, or others have put something else in its place.
            self._say(b"status=error")
            return
        with file:
            self._send(file, known.size)

    def _object(self, known: Pointer) -> int:
        """Open an object. Raises OSError unless it is a regular file."""
        folder, _, name = object_key(known.oid).rpartition("/")
        return self._inside.below(f"lfs/objects/{folder}").reader(name)

    def _send(self, content: IO[bytes], size: int) -> None:
        """Send `size` bytes, and whether the content had so many."""
        self._say(b"status=success")
        left = size
        while block := content.read(min(_MOST, left)):
            self._packet(block)
            left -= len(block)
        whole = not left and not content.read(1)
        self._say()
        self._say(*(() if whole else (b"status=error",)))

    def _packets(self) -> Iterator[bytes]:
        """Yield the packets up to the next mark; none at the end of the conversation."""
        while (length := int(self._source.read(4) or _MARK, 16)) > len(_MARK):
            yield self._source.read(length - len(_MARK))

    def _packet(self, data: bytes) -> None:
        self._sink.write(b"%04x" % (len(data) + len(_MARK)))
        self._sink.write(data)

    def _say(self, *lines: bytes) -> None:
        """Send lines and a mark, and wait for no more."""
        for line in lines:
            self._packet(line + b"\n")
        self._sink.write(_MARK)
        self._sink.flush()


def main() -> None:
    """Answer Git; the argument is the descriptor of Git's own directory in the claim."""
    with ClaimFolder(os.dup(int(sys.argv[1])), "the claim") as folder:
        Filter(folder, sys.stdin.buffer, sys.stdout.buffer).run()
