"""Risks of fields of a pod that no level of Pod Security is about: nodes, devices, networks, names, volumes, patches.

The fields are those of PodSpec in Kubernetes 1.37. Without a risk are those that choose among nodes that are open to
all (`nodeSelector`, `affinity`, `schedulerName`), and those of how programs start and end and what they need.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from stowplan.compiler.checks.objects.pods import Pod
from stowplan.compiler.diff.change import Danger, Risk
from stowplan.compiler.diff.risks.claims import filled_from
from stowplan.compiler.diff.wording import shown
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.compiler.kubernetes.pod_networks import NETWORK_ANNOTATIONS
from stowplan.library.manifest import Json

_OWN_NAMES = ("ClusterFirst", "ClusterFirstWithHostNet")
"""DNS policies by which the name service of the cluster answers."""
_DIRECTIVES = ("$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/")
"""Keys of a strategic merge patch, which say what becomes of the values beside them."""
_WITHOUT_EFFECT = (
    "app.kubernetes.io",
    "cluster-autoscaler.kubernetes.io",
    "karpenter.sh",
    "kubectl.kubernetes.io",
    "prometheus.io",
    "scheduling.k8s.io",
    "stowplan.dev",
    "volcano.sh",
)
"""Domains of annotations that give a pod nothing: they describe it, keep it where it is or put it into a group."""
_INJECTING = ("azure.workload.identity/use", "istio.io/dataplane-mode", "sidecar.istio.io/inject")
"""Labels by which a controller gives a pod an identity, or takes it out of a mesh."""


class Property(NamedTuple):
    """A property of a pod: a risk if it is new. Every pod has an `implied` one in some form; a new pod's is no risk."""

    risk: Risk
    implied: bool = False


def properties(pod: Pod) -> Iterator[Property]:
    """Yield the properties of a pod, in no order; missing protections, and images, are implied."""
    for text in (*_rights(pod.spec), *_volumes(pod), *_annotations(pod)):
        yield Property(Risk(Danger.RIGHTS, text))
    for text in (*_names(pod.spec), *_isolation(pod.spec), *_patches(pod.spec)):
        yield Property(Risk(Danger.SECURITY, text))
    if not pod.spec.get("runtimeClassName"):
        yield Property(Risk(Danger.SECURITY, "Its containers run by the default runtime of their node."), implied=True)
    if pod.spec.get("hostUsers") is not False:
        yield Property(Risk(Danger.SECURITY, "Its containers have the user ids of their node."), implied=True)
    for volume in pod.volumes:
        if image := mapping(volume, "image").get("reference"):
            text = f"Its volume {volume.get('name')} holds the image {image}."
            yield Property(Risk(Danger.IMAGE, text), implied=True)


def _rights(spec: Json) -> Iterator[str]:
    for each in items(spec, "tolerations"):
        yield f"Its pods tolerate {_taint(each)}: they may run on nodes that are kept for others."
    if name := spec.get("priorityClassName"):
        yield f"Its pods have the priority class {name}, and may displace others."
    if number := spec.get("priority"):
        yield f"Its pods have the priority {number}, and may displace others."
    if node := spec.get("nodeName"):
        yield f"Its pods run on the node {node}, whatever the scheduler says."
    for claim in items(spec, "resourceClaims"):
        for field, kind in (
            ("resourceClaimName", "ResourceClaim"),
            ("resourceClaimTemplateName", "ResourceClaimTemplate"),
        ):
            if name := claim.get(field):
                yield f"Its pods get the devices of the {kind} {name}."
    for secret in items(spec, "imagePullSecrets"):
        yield f"Its images are pulled with the Secret {secret.get('name')}."


def _taint(toleration: Json) -> str:
    value = f"={toleration['value']}" if toleration.get("value") else ""
    effect = f":{toleration['effect']}" if toleration.get("effect") else ""
    return f"the taint {toleration['key']}{value}{effect}" if toleration.get("key") else f"every taint{effect}"


def _volumes(pod: Pod) -> Iterator[str]:
    for volume in pod.volumes:
        if csi := mapping(volume, "csi"):
            attributes = f" with {shown(csi['volumeAttributes'])}" if csi.get("volumeAttributes") else ""
            yield f"Its pods mount what the CSI driver {csi.get('driver')} gives them{attributes}."
        for source in filled_from(mapping(volume, "ephemeral", "volumeClaimTemplate", "spec")):
            yield f"A volume of its pods is filled from {source}."
        for each in items(volume, "projected", "sources"):
            if audience := mapping(each, "serviceAccountToken").get("audience"):
                yield f"Its pods get a token of their ServiceAccount for {audience}."
            if signer := mapping(each, "podCertificate").get("signerName"):
                yield f"Its pods get a certificate of the signer {signer}."


def _annotations(pod: Pod) -> Iterator[str]:
    for key, value in mapping(pod.metadata, "annotations").items():
        domain, slash, _ = str(key).partition("/")
        if key in NETWORK_ANNOTATIONS:
            yield f"Its pods join the network {value}."
        elif slash and not any(domain == each or domain.endswith(f".{each}") for each in _WITHOUT_EFFECT):
            yield f"Its pods have the annotation {key} with {shown(value)}, which others may act on."
    for key in _INJECTING:
        if key in pod.labels:
            yield f"Its pods have the label {key} with {shown(pod.labels[key])}, which others act on."


def _names(spec: Json) -> Iterator[str]:
    for alias in items(spec, "hostAliases"):
        yield f"Its pods find {shown(alias.get('hostnames'))} at {alias.get('ip')}."
    policy = spec.get("dnsPolicy")
    if policy and policy not in _OWN_NAMES:
        yield f"Its pods resolve names by the DNS policy {policy}."
    if config := mapping(spec, "dnsConfig"):
        yield f"Its pods resolve names with {shown(config)}."


def _isolation(spec: Json) -> Iterator[str]:
    if name := spec.get("runtimeClassName"):
        yield f"Its containers run by the runtime class {name}."
    if spec.get("shareProcessNamespace"):
        yield "Its containers see the processes of each other."


def _patches(spec: Json) -> Iterator[str]:
    """Yield what reads as a patch: another one may be made of it than what Pod Security is judged by."""
    left: list[tuple[Any, str]] = [(spec, "")]
    while left:
        value, path = left.pop()
        if isinstance(value, list):
            left += [(each, path) for each in value]
        for key, child in value.items() if isinstance(value, dict) else ():
            place = f"{path}.{key}" if path else str(key)
            if str(key).startswith(_DIRECTIVES):
                yield f"{place} is {shown(child)}: this is for patches, and no field of a pod."
            elif key == "securityContext" and child is None:
                yield f"{place} is null: as a patch, this takes all of it away."
            left.append((child, place))
