"""Could a volume or a storage class inject shell code into its mount, or use a system directory of a cluster node?"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.kubernetes.fields import mapping
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.juicefs.option_forms import MOUNT_OPTION, PATH, WORD
from stowplan.schema.platform import cache_directories
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.settings import JuiceFS

_HINT = "Give a value without signs that a shell knows; quote nothing."
_CSI = ("spec", "csi")
_JUICEFS = JuiceFS().csi_driver
_SECRETS = (
    "controllerExpandSecretRef",
    "controllerPublishSecretRef",
    "nodeExpandSecretRef",
    "nodePublishSecretRef",
    "nodeStageSecretRef",
)


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings about unsafe mount options, and about other unsafe fields that the JuiceFS driver reads.

    Checked are storage classes, volumes and the volumes in pod templates. Those that Stowplan writes for datasets are
    safe; the check is for volumes in plain objects, in users' pod templates and of constructs.
    """
    drivers = (_JUICEFS, platform.juicefs.csi_driver)
    found: list[ObjectFinding] = []
    for obj in objects.of_kind("StorageClass"):
        found += _options(obj, obj.body, ("mountOptions",))
        if obj.body.get("provisioner") in drivers:
            found += _attributes(obj, mapping(obj.body, "parameters"), ("parameters",), platform)
    for obj in objects.of_kind("PersistentVolume"):
        found += _options(obj, mapping(obj.body, "spec"), ("spec", "mountOptions"))
        if mapping(obj.body, *_CSI).get("driver") in drivers:
            found += _of_juicefs(obj, platform)
    if b'"volumeAttributes"' in objects.json:
        for obj in objects.with_pods:
            for csi, path in _in_pods(obj):
                if csi.get("driver") in drivers:
                    found += _attributes(obj, mapping(csi, "volumeAttributes"), (*path, "volumeAttributes"), platform)
    return found


def _in_pods(obj: Object) -> Iterator[tuple[Json, FieldPath]]:
    """Yield the `csi` field, with its path, of each volume in the pod templates of an object; empty if it has none."""
    for pod in obj.pods:
        for index, volume in enumerate(pod.volumes):
            yield mapping(volume, "csi"), (*pod.spec_path, "volumes", index, "csi")


def _options(obj: Object, holder: Json, path: FieldPath) -> Iterator[ObjectFinding]:
    for index, option in enumerate(holder.get("mountOptions") or ()):
        if not MOUNT_OPTION.fits(option):
            yield _unfit(obj, (*path, index), option, MOUNT_OPTION.words)


def _of_juicefs(obj: Object, platform: Platform) -> Iterator[ObjectFinding]:
    csi = mapping(obj.body, *_CSI)
    if not WORD.fits(csi["volumeHandle"]):
        yield _unfit(obj, (*_CSI, "volumeHandle"), csi["volumeHandle"], WORD.words)
    for index, option in enumerate(mapping(obj.body, "spec").get("mountOptions") or ()):
        yield from _directories(obj, option, ("spec", "mountOptions", index), platform)
    yield from _attributes(obj, mapping(csi, "volumeAttributes"), (*_CSI, "volumeAttributes"), platform)
    yield from _secrets(obj, platform)


def _attributes(obj: Object, attributes: Json, at: FieldPath, platform: Platform) -> Iterator[ObjectFinding]:
    """Yield findings about unsafe attributes of a volume; `at` is the path of the attributes.

    The JuiceFS driver takes mount options, joined by commas, from the attributes too (`NodePublishVolume`).
    """
    if (place := attributes.get("subPath")) and not PATH.fits(place):
        yield _unfit(obj, (*at, "subPath"), place, PATH.words)
    for option in filter(None, map(str.strip, attributes.get("mountOptions", "").split(","))):
        if not MOUNT_OPTION.fits(option):
            yield _unfit(obj, (*at, "mountOptions"), option, MOUNT_OPTION.words)
        yield from _directories(obj, option, (*at, "mountOptions"), platform)


def _unfit(obj: Object, path: FieldPath, value: str, allowed: str) -> ObjectFinding:
    return about(obj, "SP457", path, f"Found {value!a}; allowed is {allowed}.", _HINT)


def _directories(obj: Object, option: str, path: FieldPath, platform: Platform) -> Iterator[ObjectFinding]:
    for part in option.split(","):
        name, _, value = part.strip().lstrip("-").partition("=")
        if name != "cache-dir" or value == "memory":
            continue
        for directory in filter(None, value.split(":")):
            for each in cache_directories.findings(directory, path, platform.juicefs.cache_directories):
                yield about(obj, "SP458", path, each.message, each.hint)


def _secrets(obj: Object, platform: Platform) -> Iterator[ObjectFinding]:
    """Yield findings about Secrets of a volume in another namespace than the claim that the volume is for."""
    home = mapping(obj.body, "spec", "claimRef").get("namespace")
    pairs = {(each.spec_namespace, each.secret_namespace) for each in platform.policy.cross_namespace_secrets}
    for key in _SECRETS:
        namespace = mapping(obj.body, *_CSI, key).get("namespace")
        if home and namespace and namespace != home and (home, namespace) not in pairs:
            message = f"The claim is in namespace {home}, and the Secret of its volume in {namespace}."
            hint = (
                f"Name a Secret of {home}, or list `specNamespace: {home}` and `secretNamespace: {namespace}` in "
                "`policy.crossNamespaceSecrets` of the platform file."
            )
            yield about(obj, "SP303", (*_CSI, key, "namespace"), message, hint)
