"""Strings that a shell or a program could read as its own syntax, in every field that reaches a driver or an agent.

Either the command reports an error, or what it compiles holds no such string at that place.
"""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from stowplan.schema.juicefs.option_forms import MOUNT_FORMS, SYNC_FORMS
from stowplan.schema.remotes.git import NO_REF
from tests.repositories import Result, compiled

METACHARACTERS = frozenset(";&|<>$`'\"(){}!*?[]~#\\ \t\n\r\0")
PATTERN_SIGNS = frozenset("*?[]!\\")
"""What a pattern of `juicefs sync`, which no shell reads, may hold."""

Document = dict[str, Any]
Place = tuple[str | int, ...]

SET: Document = {
    "apiVersion": "batch.paddlepaddle.org/v1alpha1",
    "kind": "SampleSet",
    "metadata": {"name": "data", "namespace": "ml"},
    "spec": {
        "partitions": 1,
        "source": {"uri": "s3://bucket.s3.eu-central-1.amazonaws.com/train/", "secretRef": {"name": "source"}},
        "secretRef": {"name": "volume"},
    },
}


def job(kind: str, **options: Any) -> Document:
    metadata = {"name": "work", "namespace": "ml"}
    given = {"type": kind, "sampleSetRef": {"name": "data"}, "secretRef": {"name": "source"}, **options}
    return {"apiVersion": SET["apiVersion"], "kind": "SampleJob", "metadata": metadata, "spec": given}


def cube(kind: str, *options: tuple[str, str], **executor: Any) -> Document:
    remote: Document = {"type": kind, "options": [{"name": name, "value": value} for name, value in options]}
    if kind == "s3":
        remote["s3"] = {"anonymous": True}
    return {
        "apiVersion": "tensorstack.dev/v1beta1",
        "kind": "DataCube",
        "metadata": {"name": "work", "namespace": "ml"},
        "spec": {"source": remote, "sink": {"type": "pvc", "pvc": {"name": "models"}}, "executor": executor},
    }


SYNC = job("sync", syncOptions={"source": "s3://bucket.s3.eu-central-1.amazonaws.com/more/", "exclude": "*.tmp"})
GIT = cube("git", ("url", "https://git.example.com/ml/train.git"), ("ref", "main"), env=[{"name": "TZ", "value": "x"}])
S3 = cube("s3", ("s3-uri", "s3://models/llama/"), options={"extraArgs": ["--s3-region", "eu"]})
OPTIONS: Place = ("spec", "source", "options")

FIELDS: list[tuple[Document, Place]] = [
    (SET, ("metadata", "name")),
    (SET, ("metadata", "namespace")),
    (SET, ("spec", "secretRef", "name")),
    (SET, ("spec", "secretRef", "namespace")),
    (SET, ("spec", "source", "uri")),
    (SET, ("spec", "source", "secretRef", "name")),
    (SET, ("spec", "cache", "levels", 0, "path")),
    *((SET, ("spec", "csi", "juiceFSMountOptions", option)) for option in MOUNT_FORMS),
    *((SYNC, ("spec", "syncOptions", option)) for option in SYNC_FORMS),
    (SYNC, ("metadata", "name")),
    (SYNC, ("spec", "secretRef", "name")),
    (job("warmup", warmupOptions={}), ("spec", "warmupOptions", "file")),
    (job("warmup", warmupOptions={"paths": ["a"]}), ("spec", "warmupOptions", "paths", 0)),
    (job("rmr", rmrOptions={"paths": ["a"]}), ("spec", "rmrOptions", "paths", 0)),
    (job("clear", clearOptions={"paths": ["/dev/shm/data"]}), ("spec", "clearOptions", "paths", 0)),
    (GIT, ("metadata", "name")),
    (GIT, (*OPTIONS, 0, "value")),
    (GIT, (*OPTIONS, 1, "value")),
    (GIT, ("spec", "executor", "env", 0, "name")),
    (GIT, ("spec", "sink", "pvc", "name")),
    (GIT, ("spec", "sink", "pvc", "subPath")),
    (S3, (*OPTIONS, 0, "value")),
    (S3, ("spec", "executor", "options", "extraArgs", 1)),
]
"""A document and a place in it; what is missing on the way is made."""

ATTACKS = [
    "$(id)", "${IFS}", "`id`", "'", '"', "';id;#", "a&b", "a|b", ">/tmp/x", "<x", "(a)", "{a,b}", "!a", "*", "?", "[a]",
    "~root", "#", "\\", " ", "\t", "\n", "\r", "\0", "\x1b[31m", "\x7f", "\x85", "\u2028", "-rf", "--config=x", "-",
    ",allow_other", "=x", "%2e", "..", "/../", ":", ":/etc", "@", "{{x}}", "é", "名",
]  # fmt: skip
WORDS = [
    "",
    "a",
    "/",
    "/a",
    "/data/cache",
    "s3://bucket/a/",
    "https://git.example.com/a.git",
    "main",
    "0600",
    "24h",
    "x:1",
]

strings = st.lists(st.sampled_from(ATTACKS) | st.sampled_from(WORDS), min_size=1, max_size=3).map("".join) | st.text(
    st.characters(codec="utf-8"), max_size=8
)


def put(document: Document, place: Place, value: str) -> Document:
    root: Any = deepcopy(document)
    node = root
    for key, after in pairwise(place):
        if isinstance(node, dict) and key not in node:
            node[key] = [{}] if isinstance(after, int) else {}
        node = node[key]
    node[place[-1]] = value
    assert isinstance(root, dict)
    return root


def outcome(document: Document) -> Result:
    documents = [document] if document["kind"] in ("SampleSet", "DataCube") else [SET, document]
    with TemporaryDirectory() as folder:
        return compiled(Path(folder), {"a.yaml": yaml.safe_dump_all(documents, allow_unicode=True)})


def strings_of(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from strings_of(below)


def plain(text: str, allowed: frozenset[str] = frozenset()) -> bool:
    """Whether a text holds no sign of a shell, no control character, and does not look like an option."""
    control = any(ord(character) < 0x20 or 0x7F <= ord(character) < 0xA0 for character in text)
    return not control and not set(text) & METACHARACTERS - allowed and not text.startswith("-")


def is_sound_volume(body: Document) -> bool:
    csi = body["spec"]["csi"]
    secret = csi["nodePublishSecretRef"]
    texts = [*body["spec"]["mountOptions"], csi["driver"], csi["volumeHandle"], secret["name"], secret["namespace"]]
    return all(plain(text) and text.isascii() for text in texts)


def is_sound_configuration(body: Document) -> bool:
    config = json.loads(next(iter(body["data"].values())))
    if config.get("task") == "sync":
        flags = config["flags"]
        patterns = [flags.pop(name, "") for name in ("include", "exclude")]
        values = [value for value in flags.values() if isinstance(value, str)]
        ends = [config["source"], config["destination"], config.get("root") or ""]
        # A flag and its value are one word, so that a value may begin with a dash.
        return (
            all(plain(text) for text in ends)
            and all(plain(text.lstrip("-")) for text in values)
            and all(plain(text.lstrip("-"), PATTERN_SIGNS) for text in patterns)
        )
    if config.get("task") == "runtime":
        return all(plain(text) for text in config["mountOptions"])
    # Other agents start no program with texts of the spec, but paths have no control characters.
    return all("\0" not in text and "\n" not in text for text in strings_of(config))


def is_sound_pod(body: Document) -> bool:
    """Words of a command, and variables that Git is given as words."""
    spec = body["spec"].get("jobTemplate", body)["spec"]["template"]["spec"]
    for container in spec["containers"]:
        if not all(plain(word.lstrip("-")) for word in [*container["command"], *container.get("args", ())]):
            return False
        for variable in container.get("env", ()):
            name, value = variable["name"], variable.get("value", "")
            if name.startswith(("LD_", "PYTHON", "GIT_")) or not plain(name):
                return False
            if name == "REF" and "$(" not in value and NO_REF.search(value):
                return False
            if name == "URL" and not value.startswith(("https://", "http://", "$(")):
                return False
    return True


SOUND: dict[str, Callable[[Document], bool]] = {
    "PersistentVolume": is_sound_volume,
    "ConfigMap": is_sound_configuration,
    "Job": is_sound_pod,
    "CronJob": is_sound_pod,
    "StatefulSet": is_sound_pod,
}


def test_the_documents_compile_without_a_change() -> None:
    for document in {id(each): each for each, _ in FIELDS}.values():
        if document["spec"].get("warmupOptions") != {}:
            assert outcome(document).errors == [], document


@pytest.mark.parametrize("attack", ["/a'&touch${IFS}/tmp/x;#", "$(id)", "a\nb", "--config=/etc/passwd", "\x1b]0;x\x07"])
def test_a_known_attack_goes_nowhere(attack: str) -> None:
    for document, place in FIELDS:
        held(document, place, attack)


@settings(max_examples=300)
@given(field=st.sampled_from(FIELDS), value=strings)
def test_no_string_reaches_a_shell_or_looks_like_an_option(field: tuple[Document, Place], value: str) -> None:
    held(*field, value)


def held(document: Document, place: Place, value: str) -> None:
    result = outcome(put(document, place, value))
    if result.errors:
        return
    for output in result.outputs:
        body = output.manifest.body
        if body["kind"] in SOUND and output.spec is not None:
            assert SOUND[body["kind"]](body), (place, value, body["kind"])
