"""Directory and size of a node's cache: by tiers, then mount options, then a default."""

from typing import Any

import pytest

from stowplan.library.drivers.juicefs import cache
from stowplan.library.drivers.juicefs.cache import Cache
from stowplan.library.drivers.juicefs.driver import JuiceFSDriver
from stowplan.library.ir.data import CachedDataset
from tests.unit.specs import dataset, site


def given(*levels: dict[str, Any], **options: Any) -> CachedDataset:
    spec: dict[str, Any] = {"csi": {"juiceFSMountOptions": options}}
    if levels:
        spec["cache"] = {"levels": list(levels)}
    return dataset(**spec)


def codes(data: CachedDataset) -> list[str]:
    return [found.code for found in cache.findings(data, site())]


LEVEL = {"path": "/tier", "cacheSize": 100}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (given(), Cache(("/dev/shm/data",), 4096)),
        (given(**{"cache-dir": "/a:/b", "cache-size": 7}), Cache(("/a", "/b"), 7)),
        (given(**{"cache-dir": "memory"}), Cache(("memory",), 4096)),
        (given(LEVEL), Cache(("/tier",), 100)),
        (given(LEVEL, {"path": "/x:/y", "cacheSize": 50}), Cache(("/tier", "/x", "/y"), 150)),
        (given(LEVEL, **{"cache-dir": "/a", "cache-size": 7}), Cache(("/tier",), 100)),
        (given({"path": "/tier"}, **{"cache-size": 7}), Cache(("/tier",), 7)),
        (given({"cacheSize": 100}, **{"cache-dir": "/a"}), Cache(("/a",), 100)),
        (given({"path": "/tier:"}), Cache(("/tier",), 4096)),
    ],
)
def test_precedence(data: CachedDataset, expected: Cache) -> None:
    assert cache.resolve(data, site()) == expected


def test_platform_gives_the_size_where_the_dataset_does_not() -> None:
    assert cache.resolve(given(), site(juicefs={"cacheSize": 9})).size_mib == 9


def test_default_directory_is_in_lower_case() -> None:
    assert cache.default_directory("ImageNet") == "/dev/shm/imagenet"


@pytest.mark.parametrize("path", ["relative", "/a/../b", "/a,b", "/a=b", "/a b", "/a*", "/a[0]", "/a\n"])
def test_a_directory_that_cannot_be_mounted_is_refused(path: str) -> None:
    assert "SP405" in codes(given({"path": path, "cacheSize": 1}))
    assert "SP405" in codes(given(**{"cache-dir": path, "cache-size": 1}))


@pytest.mark.parametrize("path", ["/a", "/a.b/c-d_e", "/a/", "/..a/b.."])
def test_a_directory(path: str) -> None:
    assert codes(given({"path": path, "cacheSize": 1})) == []


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (given(), "SP411"),
        (given({"path": "/a", "cacheSize": -1}), "SP205"),
        (given({"cacheSize": 1}), "SP406"),
        (given(LEVEL, **{"cache-dir": "/a"}), "SP406"),
        (given(LEVEL, **{"cache-size": 7}), "SP406"),
        (given(**{"cache-dir": "/a", "cache-size": 7}), "SP411"),
    ],
)
def test_what_is_worth_knowing(data: CachedDataset, code: str) -> None:
    assert code in codes(data)


def test_a_cache_in_memory_uses_no_directory() -> None:
    driver = JuiceFSDriver()
    assert driver.cache_directories(given(**{"cache-dir": "memory"}), site()) == ()
    assert driver.cache_directories(given(LEVEL), site()) == ("/tier",)


def test_directories_in_memory_are_named_unless_their_path_says_so() -> None:
    memory = {"mediumType": "MEM", "path": "/ram/a:/dev//shm/b:/dev/shm:/dev/shmoo"}
    data = given(memory, {"mediumType": "SSD", "path": "/data"}, {"path": "/other"})
    assert cache.memory_directories(data) == ["/ram/a", "/dev/shmoo"]
    assert cache.memory_directories(given()) == []
