"""Redis and an S3 server beside the nodes, where pods reach them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.absent import skip
from tests.agents.cache import redis_server
from tests.agents.cache.redis_server import PASSWORD, Redis
from tests.agents.cache.volume import NAME
from tests.agents.transfer import server
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Server, Storage, new_bucket
from tests.cluster.processes import free_port
from tests.nightly.node import network

KEYS = {"access-key": ACCESS_KEY, "secret-key": SECRET_KEY}


@dataclass(frozen=True)
class Stores:
    """Running servers, with a bucket for the samples."""

    redis: Redis
    server: Server
    bucket: Storage

    @property
    def url(self) -> str:
        """The bucket as specs name it."""
        return f"minio://{self.bucket.endpoint.removeprefix('http://')}/{self.bucket.bucket}/"

    def volume(self, database: int) -> dict[str, str]:
        """The Secret of a new volume of JuiceFS, which keeps its metadata in this database of Redis."""
        blocks = new_bucket(self.bucket.endpoint)
        metadata = self.redis.url(database).replace("redis://", f"redis://:{PASSWORD}@")
        return {
            "name": NAME,
            "metaurl": metadata,
            "storage": "minio",
            "bucket": f"{blocks.endpoint}/{blocks.bucket}",
        } | KEYS


@contextmanager
def running(folder: Path, port: int | None = None) -> Iterator[Stores]:
    """The servers until the block ends, that of S3 at this port if one is given; skips where they cannot be had."""
    program, redis = server.needed(), redis_server.program()
    if redis is None:
        skip("no redis-server on this machine")
    (folder / "s3").mkdir()
    s3 = Server(program, folder / "s3", address=network.host(), port=port or free_port())
    with redis_server.running(folder / "redis", redis, network.host()) as metadata:
        try:
            s3.start()
            yield Stores(metadata, s3, new_bucket(s3.url))
        finally:
            s3.stop()
