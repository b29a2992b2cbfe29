"""The arguments of `juicefs sync`."""

from typing import Any

import pytest

from stowplan.library.drivers.juicefs import sync
from stowplan.library.ir.data import DataTask, SecretName, Source
from stowplan.schema.juicefs.sync_options import SyncOptions
from tests.unit.specs import ORIGIN, dataset, site


def task(source: str = "s3://b/a", destination: str = "", *, sub_dir: str = "", **options: Any) -> DataTask:
    return DataTask(
        origin=ORIGIN,
        operation="sync",
        dataset=dataset(csi={"juiceFSMountOptions": {"sub-dir": sub_dir}}),
        namespace="ml",
        stems=("data-sync",),
        configuration_stem="data-sync",
        source=Source(source, SecretName("ml", "source")),
        destination=destination,
        sync_options=SyncOptions.model_validate(options),
    )


@pytest.mark.parametrize(
    ("source", "destination", "sub_dir", "expected"),
    [
        ("s3://b/a", "", "", ("s3://b/a/", "/")),
        ("s3://b/a/", "", "", ("s3://b/a/", "/")),
        ("s3://b/a", "x", "", ("s3://b/a", "/x")),
        ("s3://b/a/", "x", "", ("s3://b/a/", "/x/")),
        ("s3://b/a", "x/", "", ("s3://b/a/", "/x/")),
        ("s3://b/a//", "/x//", "", ("s3://b/a/", "/x/")),
        ("s3://b/a", "/", "", ("s3://b/a/", "/")),
        ("s3://b/a", "", "sub", ("s3://b/a", "/sub")),
        ("s3://b/a/", "", "/sub/", ("s3://b/a/", "/sub/")),
        ("s3://b/a", "x", "sub/dir", ("s3://b/a", "/sub/dir/x")),
    ],
)
def test_ends_agree_on_their_slash(source: str, destination: str, sub_dir: str, expected: tuple[str, str]) -> None:
    assert sync.ends(task(source, destination, sub_dir=sub_dir)) == expected


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({}, {"check-new": True}),
        ({"check-new": False}, {}),
        ({"check-all": True}, {"check-all": True}),
        ({"check-all": True, "check-new": True}, {"check-all": True, "check-new": True}),
        ({"threads": 20, "bwlimit": 0}, {"check-new": True, "threads": 20}),
        ({"dry": True, "dirs": False}, {"check-new": True, "dry": True}),
        ({"exclude": "*.tmp", "start": ""}, {"check-new": True, "exclude": "*.tmp"}),
        ({"http-port": 6070, "manager": "a:1", "worker": "b"}, {"check-new": True}),
        ({"source": "s3://b", "destination": "x"}, {"check-new": True}),
    ],
)
def test_flags(options: dict[str, Any], flags: dict[str, Any]) -> None:
    assert sync.flags(SyncOptions.model_validate(options)) == flags


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"http-port": 6070}, "SP408"),
        ({"manager": "a:1"}, "SP408"),
        ({"worker": "b"}, "SP408"),
        ({"exclude": "*.tmp"}, "SP407"),
        ({"delete-src": True}, "SP417"),
        ({"threads": -1}, "SP205"),
        ({"max-failure": 3}, "SP409"),
    ],
)
def test_finding(options: dict[str, Any], code: str) -> None:
    found = sync.findings(task(**options), site(juicefs={"clientVersion": "1.2"}))
    assert [each.code for each in found] == [code]


def test_include_without_exclude_has_no_effect() -> None:
    assert "SP406" in [each.code for each in sync.findings(task(include="a"), site())]


@pytest.mark.parametrize("key", ["include", "exclude"])
def test_patterns_that_the_agent_refuses(key: str) -> None:
    found = sync.findings(task(**{"exclude": "a", key: "-year=2024"}), site())
    assert [each.path for each in found if each.code == "SP420"] == [("spec", "syncOptions", key)]


@pytest.mark.parametrize(("options", "codes"), [({}, ["SP411"]), ({"check-all": True}, [])])
def test_a_storage_without_times_offers_the_comparison_of_contents(options: dict[str, Any], codes: list[str]) -> None:
    found = sync.findings(task("redis://store.example.com:6379/1/", **options), site())
    assert [each.code for each in found if each.code != "SP419"] == codes
