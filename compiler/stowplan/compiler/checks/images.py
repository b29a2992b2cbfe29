"""Will each agent's image be the same tomorrow?"""

from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects


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


def _pinned(image: str) -> bool:
    """Whether a digest or a tag other than `latest` follows the name. A port is part of the registry, not a tag."""
    if "@sha256:" in image:
        return True
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return bool(colon) and tag not in ("", "latest")
