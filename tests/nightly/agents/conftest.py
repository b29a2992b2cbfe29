"""The fixtures are those of `tests/agents/cache`."""

from tests.agents.cache.conftest import (
    dataset,
    fuse,
    juicefs,
    mounts,
    new_disk,
    new_volume,
    redis,
    redis_program,
    s3,
    volume,
)
from tests.agents.cache.test_small_caches import large

__all__ = [
    "dataset",
    "fuse",
    "juicefs",
    "large",
    "mounts",
    "new_disk",
    "new_volume",
    "redis",
    "redis_program",
    "s3",
    "volume",
]
