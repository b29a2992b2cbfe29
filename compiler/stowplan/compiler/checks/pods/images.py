"""Does each image of an agent have a fixed version?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects
from stowplan.schema.platform.platform import Platform


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for images in Stowplan's containers without a tag or digest, or with the tag `latest`.

    If the platform file sets the tag `latest`, nothing is returned: the check of the platform file reports that.
    """
    found: list[ObjectFinding] = []
    for obj in objects.with_pods if platform.images.tag != "latest" else ():
        for pod in obj.authored_pods:
            for path, container in pod.containers:
                image = str(container.get("image", ""))
                if not _pinned(image):
                    message = f'The image "{image}" has no fixed version, so a pod may run another version tomorrow.'
                    hint = "Give it a tag or a digest where an extension sets it."
                    found.append(about(obj, "SP607", (*path, "image"), message, hint))
    return found


def check_digests(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return a finding for the first use of each image without a digest in Stowplan's containers.

    Empty unless the platform file sets `images.requireDigests`.
    """
    first: dict[str, ObjectFinding] = {}
    for obj in objects.with_pods if platform.images.require_digests else ():
        for pod in obj.authored_pods:
            for path, container in pod.containers:
                image = str(container.get("image", ""))
                if "@sha256:" not in image and image not in first:
                    message = f'The image "{image}" has no digest, which `images.requireDigests` asks for.'
                    hint = (
                        "Give `images.digests` in the platform file; for the etcd of TrainingJobs, `paddle.etcdImage`."
                    )
                    first[image] = about(obj, "SP608", (*path, "image"), message, hint)
    return list(first.values())


def _pinned(image: str) -> bool:
    """Whether a digest or a tag other than `latest` follows the name. The port of a registry is no tag."""
    if "@sha256:" in image:
        return True
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return bool(colon) and tag not in ("", "latest")
