"""Objects that a user's pod template names and that the repository need not define."""

from collections.abc import Iterator

from stowplan.library.builders.pods.training_pod import containers
from stowplan.library.manifest import ExternalReference, Json


def externals(template: Json, namespace: str) -> Iterator[ExternalReference]:
    """Yield references to the claims, ConfigMaps, Secrets, ServiceAccount and PriorityClass that a pod template names.

    `namespace` is the namespace of the pods.
    """
    spec = template["spec"]
    for kind, name in _names(spec):
        if name:
            yield ExternalReference(kind, "" if kind == "PriorityClass" else namespace, name)


def _names(spec: Json) -> Iterator[tuple[str, str | None]]:
    yield "ServiceAccount", spec.get("serviceAccountName") or spec.get("serviceAccount")
    yield "PriorityClass", spec.get("priorityClassName")
    for secret in spec.get("imagePullSecrets") or ():
        yield "Secret", secret.get("name")
    for volume in spec.get("volumes") or ():
        yield from _volume(volume)
    for container in containers(spec):
        yield from _container(container)


def _volume(volume: Json) -> Iterator[tuple[str, str | None]]:
    yield "PersistentVolumeClaim", (volume.get("persistentVolumeClaim") or {}).get("claimName")
    yield "Secret", (volume.get("secret") or {}).get("secretName")
    yield "ConfigMap", (volume.get("configMap") or {}).get("name")
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield "Secret", (source.get("secret") or {}).get("name")
        yield "ConfigMap", (source.get("configMap") or {}).get("name")


def _container(container: Json) -> Iterator[tuple[str, str | None]]:
    for source in container.get("envFrom") or ():
        yield "Secret", (source.get("secretRef") or {}).get("name")
        yield "ConfigMap", (source.get("configMapRef") or {}).get("name")
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        yield "Secret", (source.get("secretKeyRef") or {}).get("name")
        yield "ConfigMap", (source.get("configMapKeyRef") or {}).get("name")
