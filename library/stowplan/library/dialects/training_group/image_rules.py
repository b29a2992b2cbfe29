"""Rules for the images of users' pods: their references fit the grammar, and do not move."""

from collections.abc import Iterator, Sequence

from stowplan.library.builders.pods.training_pod import CONTAINER_LISTS
from stowplan.library.manifest import Json
from stowplan.library.values import image_reference
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.wording import describe, found_but

FORM = "a name in lower-case letters with a tag or a digest, such as registry.example.com/ml/train:1.4"


def of_pod(spec: Json, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the images of the pod whose spec is at `path`: of its containers and of its volumes.

    The spec must fit the schema of Kubernetes.
    """
    for field in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            if container.get("image"):
                yield from of_image(container["image"], (*path, field, index, "image"))
    yield from of_volumes(spec.get("volumes") or (), (*path, "volumes"))


def of_volumes(volumes: Sequence[Json], path: FieldPath) -> Iterator[Finding]:
    """Yield findings about images that are mounted as volumes. `path` is that of the list of volumes."""
    for index, volume in enumerate(volumes):
        if reference := (volume.get("image") or {}).get("reference"):
            yield from of_image(reference, (*path, index, "image", "reference"))


def of_image(text: str, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if the reference of an image is invalid, or may stand for another image tomorrow."""
    image = image_reference.parse(text)
    if image is None:
        yield finding("SP206", path, *found_but(describe(text), FORM))
    elif image.moves:
        why = f"the tag `{image.tag}` moves" if image.tag else "it has no tag, which means `latest`"
        message = f"The image {text} may be another one tomorrow: {why}."
        yield finding("SP607", path, message, "Name a version, or a digest (`@sha256:…`).")
