"""Service accounts that pods of users run as: never those of Stowplan's agents, whose rights are theirs alone."""

from collections.abc import Iterator

from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import Made, ObjectFinding, about
from stowplan.compiler.checks.objects.object import Objects, is_plain
from stowplan.compiler.checks.objects.pods import Pod, account_of
from stowplan.library.delivery.reporter import NAME as REPORTER
from stowplan.library.values.names import DataCubeNames, SampleJobNames, SampleSetNames
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.platform.platform import Platform

_CODE = "SP616"
_DEFAULT = "default"
_PREFIX = f"{REPORTER.partition('-')[0]}-"  # stowplan-
_ENDINGS = (SampleSetNames("", "", "namespaced").base, SampleJobNames("").base, DataCubeNames("").base)
"""How the names of our accounts begin or end; accounts from other repositories are known by nothing else."""


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Accounts by their names, and by `policy.serviceAccounts` if the platform lists any."""
    return [
        found
        for obj in objects.with_pods
        for pod in obj.users_pods(platform)
        for found in _check(obj, pod, platform.policy.service_accounts)
    ]


def check_emitted(world: World, platform: Platform) -> list[ObjectFinding]:
    """Accounts that are part of this output, whatever they are called: long names are cut, so `check` misses them."""
    own = {fact.id for fact in world.of_kind("ServiceAccount") if fact.authored and not _is_ours(fact.id.name)}
    found = []
    for each in world.references_to(own):
        training = each.owner.spec is not None and each.owner.spec.kind in TRAINING_KINDS
        if each.path[-1] in ("serviceAccountName", "serviceAccount") and (training or is_plain(each.owner, platform)):
            found.append(_forbidden(each.owner, each.path, each.target.name))
    return found


def _check(obj: Made, pod: Pod, allowed: list[str]) -> Iterator[ObjectFinding]:
    path, name = account_of(pod)
    if _is_ours(name):
        yield _forbidden(obj, path, name)
    elif allowed and name not in ("", _DEFAULT, *allowed):
        message = f'Found the service account "{name}"; the platform allows {", ".join((_DEFAULT, *allowed))}.'
        hint = "Use one of them, or add it to `policy.serviceAccounts` in the platform file."
        yield about(obj, _CODE, path, message, hint)


def _is_ours(name: str) -> bool:
    return name.startswith(_PREFIX) or name.endswith(_ENDINGS)


def _forbidden(obj: Made, path: FieldPath, name: str) -> ObjectFinding:
    message = f'The service account "{name}" is that of an agent of Stowplan, whose rights the pod would have.'
    return about(obj, _CODE, path, message, "Make an account of your own, or use the one called default.")
