"""The base of the other tests: volumes, nodes, and injected faults."""

import pytest

from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.redis_server import Redis
from tests.agents.cache.volume import Volume
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, new_bucket


@pytest.mark.parametrize("kind", ["volume", "s3_volume", "redis_volume"])
def test_what_one_node_writes_another_reads(kind: str, request: pytest.FixtureRequest, mounts: NewMounts) -> None:
    one, other = mounts(2, of=request.getfixturevalue(kind))
    (one.path / "a").write_bytes(b"x" * 100_000)
    before = other.stats()["juicefs_blockcache_bytes"]
    assert (other.path / "a").read_bytes() == b"x" * 100_000
    other.await_written()
    assert other.stats()["juicefs_blockcache_bytes"] - before >= 100_000


def test_each_node_has_a_cache_of_its_own(mounts: NewMounts) -> None:
    one, other = mounts(2)
    (one.path / "a").write_bytes(b"x" * 100_000)
    one.run("warmup", one.path / "a")
    assert one.stats()["juicefs_blockcache_bytes"] >= 100_000
    assert other.stats()["juicefs_blockcache_bytes"] == 0


def test_redis_keeps_what_it_had_before_a_kill(redis: Redis, volume: Volume) -> None:
    redis.kill()
    redis.start()
    assert '"Name": "stowplan-test"' in volume.run("status", volume.metadata)


def test_a_killed_client_leaves_a_dead_mount_that_comes_back(mounts: NewMounts) -> None:
    (node,) = mounts(1)
    (node.path / "a").write_text("kept", encoding="utf-8")
    node.kill()
    with pytest.raises(OSError, match="not connected"):
        (node.path / "a").read_text(encoding="utf-8")
    node.unmount()
    node.start()
    assert (node.path / "a").read_text(encoding="utf-8") == "kept"


def test_a_sync_needs_no_mount(mounts: NewMounts, s3: str, s3_volume: Volume) -> None:
    """From an S3 bucket into the volume by its metadata engine alone, whose address is in a variable."""
    source = new_bucket(s3)
    source.put({"d/a": b"a" * 10, "d/b": b"b" * 20})
    copied = s3_volume.run(
        "sync",
        f"minio://{s3.removeprefix('http://')}/{source.bucket}/d/",
        "jfs://JFS/copy/",
        environment={
            "JFS": s3_volume.metadata,
            "MINIO_ACCESS_KEY": ACCESS_KEY,
            "MINIO_SECRET_KEY": SECRET_KEY,
        },
    )
    assert copied == ""
    (node,) = mounts(1, of=s3_volume)
    assert (node.path / "copy" / "a").read_bytes() == b"a" * 10
    assert (node.path / "copy" / "b").read_bytes() == b"b" * 20
