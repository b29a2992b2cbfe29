"""Will each agent's image be the same tomorrow?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects


def check(objects: Objects) -> list[ObjectFinding]:
    """Images of our pods without a tag or digest, or with the tag `latest`, which only an extension can give them."""
    found = []
    for obj in objects.with_pods:
        for pod in obj.authored_pods:
            for path, container in pod.containers:
                image = str(container.get("image", ""))
                if not _pinned(image):
                    message = f'The image "{image}" has no fixed version, so a pod may run another one tomorrow.'
                    hint = "Give it a tag or a digest where an extension sets it."
                    found.append(about(obj, "SP607", (*path, "image"), message, hint))
    return found


def check_digests(objects: Objects) -> list[ObjectFinding]:
    """The first use of each image of our pods without a digest, for platforms with `images.requireDigests`."""
    first: dict[str, ObjectFinding] = {}
    for obj in objects.with_pods:
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
    """Whether a digest or a tag other than `latest` follows the name. A port is part of the registry, not a tag."""
    if "@sha256:" in image:
        return True
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return bool(colon) and tag not in ("", "latest")
