"""A network for one group of pods, in which the ports that programs choose are free: it has a loopback device alone."""

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

_Made = TypeVar("_Made")
_NEW_NETWORK = 0x40000000
"""`CLONE_NEWNET` of `<sched.h>`."""

_START = "ip link set lo up && ip address add 192.0.2.1/32 dev lo && echo up && exec sleep infinity"
"""With an address besides 127.0.0.1, without which the C library looks up no addresses for some programs."""


@contextmanager
def separate() -> Iterator[Path]:
    """The file of the network's namespace, as `nsenter --net` takes it. Only root may make one."""
    process = subprocess.Popen(["unshare", "--net", "sh", "-c", _START], stdout=subprocess.PIPE)
    try:
        assert process.stdout
        assert process.stdout.readline() == b"up\n"
        yield Path(f"/proc/{process.pid}/ns/net")
    finally:
        process.kill()
        process.communicate()


def within(network: Path, made: Callable[[], _Made]) -> _Made:
    """What `made` returns in the network. Its sockets stay there."""
    with ThreadPoolExecutor(1, initializer=_enter, initargs=(network,)) as thread:
        return thread.submit(made).result()


def _enter(network: Path) -> None:
    """Moves this thread alone."""
    with network.open() as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")
