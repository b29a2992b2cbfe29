"""Rules for a training group as a whole, for all dialects."""

from collections.abc import Callable, Iterator

from stowplan.library.builders.pods import peers_container
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.training_group import pod_template
from stowplan.library.engines.gang.registry import GANG_ENGINES
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.ir.training import Environments, Role, TrainingGroup
from stowplan.library.values.names import STEM_LIMIT
from stowplan.schema.diagnostics import FieldPath, Finding, finding


def group_findings(
    group: TrainingGroup,
    environments: Environments,
    context: Context,
    *,
    size_path: Callable[[Role], FieldPath],
    template_path: Callable[[Role], FieldPath] | None = None,
) -> list[Finding]:
    """Return all findings about a training job that do not depend on its kind.

    `size_path` gives the path of a role's number of pods, `template_path` the path of a role's template.
    `environments` are the variables that the framework sets, by role.
    """
    engines = context.platform.engines
    gang, splits = GANG_ENGINES[engines.gang], JOB_ENGINES[engines.jobs].splits
    found = [*gang.validate(group, context.platform, splits=splits), *_long_names(group)]
    for role in group.roles:
        environment = environments[role.name]
        found += pod_template.long_variables(environment, size_path(role))
        if template_path:
            fixed = [each["name"] for each in environment.fixed]
            found += pod_template.reserved(role.template, fixed, template_path(role))
            if group.framework.peers(group, role):
                found += pod_template.taken(role.template, peers_container.CONTAINER, (), template_path(role))
    return found


def _long_names(group: TrainingGroup) -> Iterator[Finding]:
    """Yield a finding about the first role whose Job has a shortened name; nothing if no name was shortened."""
    for role in group.roles:
        wanted = f"{group.names.base}-{role.name}"
        if group.names.stem(role.name) != wanted:
            message = (
                f"{wanted} is longer than {STEM_LIMIT} characters, so a hash takes the place of its end in Jobs and"
                " pods."
            )
            hint = "Shorten the name if you want to recognise its pods."
            yield finding("SP505", ("metadata", "name"), message, hint)
            return
