"""The options of the mount, each as one entry of `spec.mountOptions`."""

from typing import Any

import pytest

from stowplan.library.drivers.juicefs import mount
from stowplan.schema.juicefs.mount_options import MountOptions
from tests.unit.specs import dataset, site

CACHE = ["cache-dir=/dev/shm/data", "cache-size=4096", "free-space-ratio=0.1"]


def rendered(**options: Any) -> list[str]:
    return mount.mount_options(dataset(csi={"juiceFSMountOptions": options}), site())


def codes(*, client: str = "1.3", **options: Any) -> list[str]:
    found = mount.findings(dataset(csi={"juiceFSMountOptions": options}), site(juicefs={"clientVersion": client}))
    return [each.code for each in found]


def test_cache_is_always_written_out() -> None:
    assert rendered() == CACHE


@pytest.mark.parametrize(
    ("options", "entry"),
    [
        ({"attr-cache": 60}, "attr-cache=60"),
        ({"prefetch": 0}, "prefetch=0"),
        ({"enable-xattr": True}, "enable-xattr"),
        ({"cache-mode": "0600"}, "cache-mode=0600"),
        ({"sub-dir": "/a/b"}, "subdir=/a/b"),
    ],
)
def test_option(options: dict[str, Any], entry: str) -> None:
    assert rendered(**options) == sorted([*CACHE, entry])


@pytest.mark.parametrize("options", [{"enable-xattr": False}, {"metrics": ""}, {"attr-cache": None}])
def test_false_and_empty_values_are_left_out(options: dict[str, Any]) -> None:
    assert rendered(**options) == CACHE


def test_free_space_ratio_of_the_user() -> None:
    assert "free-space-ratio=0.3" in rendered(**{"free-space-ratio": "0.3"})


def test_every_option_is_rendered_once_and_sorted() -> None:
    """Also one that is added to the model later."""
    text = {"cache-eviction": "none", "verify-cache-checksum": "full", "free-space-ratio": "0.5", "cache-dir": "/a"}
    values: dict[str, Any] = {}
    for name, field in MountOptions.model_fields.items():
        key = field.alias or name
        values[key] = text.get(key, True if "bool" in str(field.annotation) else 5)
        if "str" in str(field.annotation) and key not in text:
            values[key] = "5"
    entries = rendered(**values)
    assert entries == sorted(set(entries))
    assert {entry.partition("=")[0].replace("subdir", "sub-dir") for entry in entries} == set(values)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"free-space-ratio": "1"}, "SP205"),
        ({"free-space-ratio": "-0.1"}, "SP205"),
        ({"free-space-ratio": "nan"}, "SP205"),
        ({"free-space-ratio": "a tenth"}, "SP205"),
        ({"attr-cache": -1}, "SP205"),
        ({"metrics": "a,b"}, "SP206"),
        ({"cache-expire": "1=2"}, "SP206"),
        ({"prefetch": 0}, "SP411"),
        ({"writeback": True}, "SP410"),
        ({"read-only": True}, "SP410"),
        ({"sub-dir": "a"}, "SP407"),
        ({"max-downloads": 5}, "SP409"),
        ({"cache-eviction": "lru"}, "SP409"),
    ],
)
def test_finding(options: dict[str, Any], code: str) -> None:
    assert codes(**options) == [code]


@pytest.mark.parametrize("ratio", ["0", "0.2", ".5", "0.999"])
def test_ratio(ratio: str) -> None:
    assert codes(**{"free-space-ratio": ratio}) == []


def test_a_newer_client_knows_more() -> None:
    assert codes(client="1.4", **{"max-downloads": 5, "cache-eviction": "lru"}) == []
    assert codes(client="1.2", **{"cache-expire": "1h", "cache-items": 5}) == ["SP409"]
