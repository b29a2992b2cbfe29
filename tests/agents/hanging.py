"""A file system that never answers: like a claim whose server is gone, it blocks every caller."""

import ctypes
import os
import select
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_DEVICE = Path("/dev/fuse")
_INIT = 26
_DETACH = 2
_VERSION = (7, 31)
"""Of the protocol; the layout of its messages is in the kernel's `include/uapi/linux/fuse.h`."""


@dataclass
class Hanging:
    """A folder that hangs."""

    path: Path
    asked: threading.Event = field(default_factory=threading.Event)
    """Somebody hangs there."""


@contextmanager
def hanging(path: Path) -> Iterator[Hanging]:
    """Mounted at an empty folder. Skips the test where nothing can be mounted."""
    if not _DEVICE.exists() or os.geteuid() != 0:
        pytest.skip("no right to mount: needs /dev/fuse and root")
    libc = ctypes.CDLL(None, use_errno=True)
    device = os.open(_DEVICE, os.O_RDWR | os.O_CLOEXEC)
    try:
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
        if libc.mount(b"hanging", os.fsencode(path), b"fuse", 0, options):
            pytest.skip(f"no right to mount: {os.strerror(ctypes.get_errno())}")
        found = Hanging(path)
        over = threading.Event()
        listener = threading.Thread(target=_listen, args=(device, found.asked, over), daemon=True)
        listener.start()
        try:
            yield found
        finally:
            over.set()
            listener.join()
            libc.umount2(os.fsencode(path), _DETACH)
    finally:
        # Whoever still hangs there gets an error.
        os.close(device)


def _listen(device: int, asked: threading.Event, over: threading.Event) -> None:
    """Answers the greeting of the kernel and leaves all else unread: then whoever asks can be killed, as on NFS."""
    poll = select.poll()
    poll.register(device, select.POLLIN)
    greeted = False
    while not over.is_set():
        if not poll.poll(100):
            continue
        if greeted:
            asked.set()
            return
        _, operation, number = struct.unpack_from("=IIQ", os.read(device, 1 << 20))
        greeted = operation == _INIT
        body = struct.pack("=IIII48x", *_VERSION, 0, 0)
        os.write(device, struct.pack("=IiQ", 16 + len(body), 0, number) + body)
