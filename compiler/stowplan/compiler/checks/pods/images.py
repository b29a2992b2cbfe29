"""Does each image have a fixed version, and a valid reference?"""

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects, is_plain
from stowplan.library.dialects.training_group import image_rules
from stowplan.library.values import image_reference
from stowplan.schema.platform.platform import Platform


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for images in Stowplan's containers and plain objects that are invalid or have no fixed version.

    If the tag in the platform file moves, Stowplan's containers are left out: the check of the platform file reports
    that. The rules of training jobs report the images in their templates.
    """
    found = [
        ObjectFinding(obj.id, each, obj.spec, obj.source)
        for obj in objects.with_pods
        if is_plain(obj, platform)
        for pod in obj.pods
        for each in image_rules.of_pod(pod.spec, pod.spec_path)
    ]
    for obj in objects.with_pods if not image_reference.moves(platform.images.tag) else ():
        for pod in obj.authored_pods:
            for path, container in pod.containers:
                image = str(container.get("image", ""))
                reference = image_reference.parse(image)
                if reference is None or reference.moves:
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
