"""Images in documents: of the containers of all pod templates, also those in plain objects, and of training jobs.

Documents may have errors: what has another form than it should have is passed over.
"""

from collections.abc import Iterator
from typing import Any

from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.builders.pods import agent_pod
from stowplan.library.dialects.reading.floating import FloatingReference, Section
from stowplan.library.values.image_reference import ImageReference, parse
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.platform.settings import Digests

_CONTAINERS = frozenset({"containers", "initcontainers", "ephemeralcontainers"})
"""Fields of pods, in lower case: MxJobs may have their keys in any case."""

_LATEST = "latest"
"""The tag that runtimes take where an image has none."""


def named(data: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield the path and the text of each image that a document names. `path` is that of `data` in the document."""
    if not path and isinstance(data, dict) and data.get("kind") in TRAINING_KINDS:
        spec = data.get("spec")
        if isinstance(spec, dict) and isinstance(spec.get("image"), str):
            yield ("spec", "image"), spec["image"]
    if isinstance(data, dict):
        for key, value in data.items():
            if key.lower() in _CONTAINERS and isinstance(value, list):
                yield from _of_containers(value, (*path, key))
            elif key == "image" and isinstance(value, dict) and isinstance(value.get("reference"), str):
                # A volume whose content is that of an image.
                yield (*path, key, "reference"), value["reference"]
            yield from named(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from named(value, (*path, index))


def _of_containers(containers: list[Any], path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    for index, each in enumerate(containers):
        for key, value in each.items() if isinstance(each, dict) else ():
            if key.lower() == "image" and isinstance(value, str):
                yield (*path, index, key), value


def key_of(image: ImageReference) -> str:
    """Return the key of an image in the lock file: its name with the tag, `latest` where it has none."""
    return f"{image.name}:{image.tag or _LATEST}"


def pins(data: Any) -> Iterator[FloatingReference]:
    """Yield all images without a digest in a document of `specs`."""
    for path, text in named(data):
        image = parse(text)
        if image is not None and image.digest is None:
            yield _place(image, path)


def fixed(data: Any) -> Iterator[tuple[FieldPath, str, str]]:
    """Yield path, key and digest of each image of a document that has both a tag and a digest."""
    for path, text in named(data):
        image = parse(text)
        if image is not None and image.tag and image.digest:
            yield path, key_of(image), image.digest


def of_platform(data: Any, version: str) -> Iterator[FloatingReference]:
    """Yield the images without a digest in a platform file: that of etcd, and with a registry the agents'.

    `data` may have errors. `version` is that of Stowplan, the default tag.
    """
    etcd = mapping(data, "paddle").get("etcdImage")
    image = parse(etcd) if isinstance(etcd, str) else None
    if image is not None and image.digest is None:
        yield _place(image, ("paddle", "etcdImage"))
    given = mapping(data, "images")
    registry, tag = given.get("registry"), given.get("tag") or version
    if not isinstance(registry, str) or not isinstance(tag, str):
        return
    path = ("images", "tag" if given.get("tag") else "registry")
    for agent in Digests.model_fields:
        image = parse(f"{agent_pod.image_name(registry, agent)}:{tag}")
        if image is not None and not mapping(given, "digests").get(agent):
            yield _place(image, path, ("images", "digests", agent))


def _place(image: ImageReference, path: FieldPath, at: FieldPath = ()) -> FloatingReference:
    tag = image.tag or _LATEST
    return FloatingReference(Section.IMAGES, key_of(image), path, at or path, address=image.name, revision=tag)
