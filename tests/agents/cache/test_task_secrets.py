"""Secrets of tasks: only the process that needs them has them, in its environment."""

import json
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.agents.cache.redis_server import PASSWORD, Redis
from tests.agents.cache.task_agent import ENVS_CANARY, Dataset
from tests.agents.cache.volume import Store, Volume
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, new_bucket
from tests.recorder import recording

ELSEWHERE = "127.0.0.2"
"""The client of JuiceFS takes servers at two ports of one address for one host, as Go does."""

CANARIES = (PASSWORD, SECRET_KEY, quote(SECRET_KEY, safe=""), ACCESS_KEY, ENVS_CANARY)

SPY = """\
#!/usr/bin/env python3
import json, os, sys
with open({record!r}, "a") as file:
    file.write(json.dumps([sys.argv[1:], dict(os.environ)]) + "\\n")
os.execv({program!r}, ["juicefs", *sys.argv[1:]])
"""
"""Takes the place of the client, writes down how it was started, and becomes the client."""


@dataclass(frozen=True)
class Call:
    """One start of the client."""

    words: list[str]
    variables: dict[str, str]

    @property
    def reads_source(self) -> bool:
        return any(word.startswith("minio://") for word in self.words)


@pytest.fixture
def spied(dataset: Dataset, tmp_path: Path) -> Dataset:
    """A dataset whose tasks find the spy instead of the client."""
    folder = tmp_path / "bin"
    folder.mkdir()
    record, spy = tmp_path / "calls", folder / "juicefs"
    spy.write_text(SPY.format(record=str(record), program=str(dataset.volume.program)), encoding="utf-8")
    spy.chmod(spy.stat().st_mode | stat.S_IXUSR)
    return replace(dataset, environment={"PATH": f"{folder}:{os.environ['PATH']}", "UNRELATED": "unrelated-CANARY"})


def calls(dataset: Dataset) -> list[Call]:
    lines = (dataset.folder / "calls").read_text(encoding="utf-8").splitlines()
    return [Call(*json.loads(line)) for line in lines]


def leaks(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text]


def test_each_child_gets_what_it_needs_and_no_more(spied: Dataset) -> None:
    spied.put({"a": b"a"})
    ended = spied.sync(flags={"delete-dst": True, "exclude": "b"})
    assert ended.code == 0, ended.output
    assert not leaks(ended.output)
    seen = calls(spied)
    # One lists what the pattern selects.
    assert sum(call.reads_source for call in seen) == 2
    for call in seen:
        assert not leaks(" ".join(call.words))
        assert PASSWORD in call.variables["JFS"]
        assert call.variables["JFS_RSA_PASSPHRASE"] == ENVS_CANARY
        assert ("MINIO_SECRET_KEY" in call.variables) == call.reads_source
        assert not any(name.startswith("STOWPLAN_") or name == "UNRELATED" for name in call.variables)


def test_nothing_is_left_in_files(spied: Dataset) -> None:
    spied.put({"a": b"a"})
    assert spied.sync().code == 0
    (spied.folder / "calls").unlink()
    for path in spied.folder.rglob("*"):
        # The server's own configuration, and the metadata, in which JuiceFS keeps the keys of its store.
        if path.is_file() and "redis" not in path.parts:
            assert not leaks(path.read_bytes().decode(errors="replace")), path


@pytest.mark.parametrize("kind", ["password", "keys", "source", "away"])
def test_failures_tell_no_secret(dataset: Dataset, kind: str) -> None:
    dataset.put({"a": b"a"})
    if kind == "password":
        ended = replace(dataset, volume=replace(dataset.volume, password="wrong-CANARY-0123456789")).sync()
        assert "wrong-CANARY" not in ended.output
    elif kind == "keys":
        ended = replace(dataset, environment={"STOWPLAN_SOURCE_SECRET_KEY": "wrong-CANARY-0123456789"}).sync()
        assert "wrong-CANARY" not in ended.output
    elif kind == "source":
        ended = dataset.sync(source=f"{dataset.source}nothing/")
    else:
        ended = dataset.sync(source="minio://127.0.0.1:1/bucket/")
    assert ended.code in (3, 4, 10)
    assert not leaks(ended.output)


def test_a_volume_is_made_without_secrets_in_arguments(spied: Dataset, s3: str, redis: Redis, juicefs: Path) -> None:
    store = Store("minio", f"{s3}/{new_bucket(s3).bucket}", ACCESS_KEY, SECRET_KEY)
    fresh = replace(spied, volume=Volume(juicefs, spied.folder, redis.url(8), store))
    fresh.put({"a": b"a"})
    ended = fresh.sync()
    assert ended.code == 0, ended.output
    assert not leaks(ended.output)
    (made,) = [call for call in calls(fresh) if "format" in call.words]
    assert not leaks(" ".join(made.words))
    assert made.variables["META_PASSWORD"] == PASSWORD
    assert made.variables["SECRET_KEY"] == SECRET_KEY


def test_keys_of_a_source_go_there_alone_and_no_others_do(dataset: Dataset) -> None:
    """A source that leads all requests elsewhere."""
    with recording() as source, recording(address=ELSEWHERE) as other:
        source.location = other.url
        ended = replace(dataset, endpoint=source.url).sync()
        assert ended.code, ended.output
        assert source.heard(ACCESS_KEY, SECRET_KEY, PASSWORD, ENVS_CANARY) == [ACCESS_KEY]
        assert other.heard(ACCESS_KEY, SECRET_KEY, PASSWORD, ENVS_CANARY) == []


def test_keys_of_a_volume_go_to_its_bucket_alone(dataset: Dataset, redis: Redis, juicefs: Path) -> None:
    """A bucket that leads all requests elsewhere, when the volume is made."""
    dataset.put({"a": b"a"})
    with recording() as bucket, recording(address=ELSEWHERE) as other:
        bucket.location = other.url
        store = Store("minio", f"{bucket.url}/blocks", "AK-of-the-volume", "SK-of-the-volume")
        ended = replace(dataset, volume=Volume(juicefs, dataset.folder, redis.url(8), store)).sync()
        assert ended.code, ended.output
        assert bucket.heard("AK-of-the-volume", "SK-of-the-volume", PASSWORD, ACCESS_KEY) == ["AK-of-the-volume"]
        assert other.heard("AK-of-the-volume", "SK-of-the-volume", PASSWORD, ACCESS_KEY) == []


def test_envs_that_are_no_object(dataset: Dataset) -> None:
    ended = replace(dataset, environment={"STOWPLAN_VOLUME_ENVS": '["secret-CANARY-1"]'}).sync()
    assert (ended.code, ended.last["reason"]) == (2, "BadSecret")
    assert "CANARY" not in ended.output


@pytest.mark.parametrize("content", ["{", '{"task": "rmr"}', '{"task": "sync", "source": 5}'])
def test_configurations_that_are_wrong(dataset: Dataset, content: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text(content, encoding="utf-8")
    with dataset.started("sync", {}, "run", 0, f"--config={tmp_path}/wrong.json") as process:
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 2, output
