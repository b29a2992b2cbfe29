"""Contents that wait in a file."""

import gc
import os
import pickle
from pathlib import Path

from stowplan.compiler.batches import worker_pool
from stowplan.compiler.output.content_spool import Spool, Spooled


def test_contents_come_back() -> None:
    contents = [b"", b"a", bytes(range(256)) * 1000, b"a"]
    places = Spool().put(contents)
    assert [bytes(place) for place in places] == contents


def test_processes_put_into_one_file() -> None:
    spool = Spool()

    def put(number: int) -> list[Spooled]:
        return spool.put([b"%d-%d" % (number, index) * 500 for index in range(20)])

    for number, places in enumerate(worker_pool.mapped(put, range(50), 3)):
        assert [bytes(place) for place in places] == [b"%d-%d" % (number, index) * 500 for index in range(20)]


def test_it_is_the_same_one_after_pickling() -> None:
    place = Spool().put([b"content"])[0]
    assert pickle.loads(pickle.dumps(place)).spool is place.spool  # noqa: S301 - our own


def test_nothing_stays_open() -> None:
    def number() -> int:
        gc.collect()
        return len(list(Path(f"/proc/{os.getpid()}/fd").iterdir()))

    before = number()
    place = Spool().put([b"content"])[0]
    assert number() == before + 1
    del place
    assert number() == before
