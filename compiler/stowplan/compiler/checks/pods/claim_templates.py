"""Do claims that users' pods bring with them take what is not theirs?"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects, is_plain
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.library.dialects.shared import claim_rules
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.platform.platform import Platform


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for claims with a source in another namespace, or with annotations for controllers.

    Checked are templates in users' pods and plain StatefulSets; of claims among the plain objects, only the source.
    """
    return [
        about(obj, found.code, found.path, found.message, found.hint, anchor=found.anchor)
        for obj in (*objects.with_pods, *objects.of_kind("PersistentVolumeClaim"))
        for path, template in _templates(obj, platform)
        for found in claim_rules.borrowed(template, obj.id.namespace, path)
    ]


def _templates(obj: Object, platform: Platform) -> Iterator[tuple[FieldPath, Json]]:
    for pod in obj.users_pods(platform):
        for index, volume in enumerate(pod.volumes):
            path = (*pod.spec_path, "volumes", index, "ephemeral", "volumeClaimTemplate")
            yield path, mapping(volume, "ephemeral", "volumeClaimTemplate")
    if is_plain(obj, platform) and obj.id.kind == "StatefulSet":
        for index, template in enumerate(items(obj.body, "spec", "volumeClaimTemplates")):
            yield ("spec", "volumeClaimTemplates", index), template
    if is_plain(obj, platform) and obj.id.kind == "PersistentVolumeClaim":
        # Annotations of a claim itself are the author's, who may restore one.
        yield (), {"spec": mapping(obj.body, "spec")}
