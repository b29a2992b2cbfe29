"""The unit of a training group: the custom resource, and the objects that the engines build for the group."""

from collections.abc import Iterable

from stowplan.library.builders import gate
from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.builders.pods import training_pod
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training_group import pod_references, restarts
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.ir.training import Environments, TrainingGroup
from stowplan.library.manifest import ExternalReference, Manifest, Unit
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
    more: Iterable[Manifest] = (),
    named: Iterable[ExternalReference] = (),
) -> Unit:
    """Return the result of compiling a training job. `variables` is the result of `environments`.

    `more` are further manifests that only jobs of this kind have. `named` are references to external objects that only
    the spec names. All fractions in training jobs are quantities, so they are written as strings.
    """
    engines = context.platform.engines
    gang, engine = GANG_ENGINES[engines.gang], JOB_ENGINES[engines.jobs]
    home = group.origin.spec.namespace
    resource = custom_resource(model, group.origin)
    canonical = Manifest(quantities.without_fractions(resource.body), stem=resource.stem)
    roles = tuple(role._replace(template=training_pod.settled(role.template)) for role in group.roles)
    made = engine.manifests(group._replace(roles=roles), variables, gang, context.site)
    manifests = (canonical, *more, *made, *gate.manifests(group, made, context.site))
    externals = {reference for role in group.roles for reference in pod_references.externals(role.template, home)}
    return Unit(group.origin.spec, manifests, tuple(sorted({*externals, *gang.externals(group, context.site), *named})))
