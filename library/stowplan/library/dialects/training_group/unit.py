"""The unit of a training group: the custom resource, and the objects that the engines build for the group."""

from collections.abc import Iterable, Iterator

from stowplan.library.builders import gate
from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.builders.pods import training_pod
from stowplan.library.builders.pods.training_pod import containers
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training_group import restarts
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.ir.training import Environments, TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest, Part, Unit
from stowplan.library.values import quantities
from stowplan.library.values.names import BLANK_RUN
from stowplan.schema.meta import Model


def environments(group: TrainingGroup, context: Context) -> Environments:
    """Return the variables that the framework sets, by role. DNS names in them have `BLANK_RUN` for the run's hash."""
    hosts = JOB_ENGINES[context.platform.engines.jobs].hosts(group, BLANK_RUN)
    return restarts.counted(group.framework.environments(group, hosts), group, context)


def unit(
    model: Model,
    group: TrainingGroup,
    variables: Environments,
    context: Context,
    *,
    more: Iterable[Part] = (),
    named: Iterable[ExternalReference] = (),
) -> Unit:
    """Return the result of compiling a training job. `variables` is the result of `environments`.

    `more` are further parts that only jobs of this kind have. `named` are references to external objects that only
    the spec names. All fractions in training jobs are quantities, so they are written as strings.
    """
    engines = context.platform.engines
    gang, engine = GANG_ENGINES[engines.gang], JOB_ENGINES[engines.jobs]
    home = group.origin.spec.namespace
    resource = custom_resource(model, group.origin)
    canonical = Manifest(quantities.without_fractions(resource.body), stem=resource.stem)
    roles = tuple(role._replace(template=training_pod.settled(role.template)) for role in group.roles)
    trainers = engine.trainers(group._replace(roles=roles), variables, gang, context.site)
    gates = gate.parts(group, trainers.manifests, context.site)
    parts = (Part("resource", (canonical,)), *more, trainers, *gates)
    externals = {reference for role in group.roles for reference in _externals(role.template, home)}
    return Unit(group.origin.spec, parts, tuple(sorted({*externals, *gang.externals(group, context.site), *named})))


def _externals(template: Json, namespace: str) -> Iterator[ExternalReference]:
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
