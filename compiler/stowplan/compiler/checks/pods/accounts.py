"""Do pods of users run as a service account that is for Stowplan's agents only?"""

from collections.abc import Iterator

from stowplan.compiler.checks.objects.finding import ObjectFinding, OutputObject, about
from stowplan.compiler.checks.objects.object import Objects
from stowplan.compiler.checks.objects.pods import Pod, account_of
from stowplan.library.delivery.reporter import NAME as REPORTER
from stowplan.library.values.names import DataCubeNames, DatasetNames, TaskNames, TrainingNames
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.table import TRAINING_KINDS
from stowplan.schema.platform.platform import Platform

_CODE = "SP616"
_DEFAULT = "default"
_PREFIX = f"{REPORTER.partition('-')[0]}-"  # stowplan-
_DATASETS = (DatasetNames("", "", "namespaced", word) for word in ("sampleset", "dataset"))
_TASKS = (TaskNames("", word) for word in ("samplejob", "datasettask"))
_GATES = (TrainingNames("", kind.lower()).gate for kind in sorted(TRAINING_KINDS))
_ENDINGS = (
    *(each.base for each in _DATASETS),
    *(each.base for each in _TASKS),
    DataCubeNames("").base,
    TrainingNames("", "training").outputs,
    *_GATES,
)
"""Endings of the names of accounts for agents; `_PREFIX` is the prefix of the others.

Accounts that other repositories compile are recognised only by these names.
"""


def check(objects: Objects, platform: Platform) -> list[ObjectFinding]:
    """Return findings for users' pods with an account of an agent, or one that the platform does not allow.

    Agents' accounts are recognised by their names. If `policy.serviceAccounts` is empty, all others are allowed.
    """
    return [
        found
        for obj in objects.with_pods
        for pod in obj.users_pods(platform)
        for found in _check(obj, pod, platform.policy.service_accounts)
    ]


def _check(obj: OutputObject, pod: Pod, allowed: list[str]) -> Iterator[ObjectFinding]:
    path, name = account_of(pod)
    if is_ours(name):
        yield forbidden(obj, path, name)
    elif allowed and name not in ("", _DEFAULT, *allowed):
        message = f'Found the service account "{name}"; the platform allows {", ".join((_DEFAULT, *allowed))}.'
        hint = "Use one of them, or add it to `policy.serviceAccounts` in the platform file."
        yield about(obj, _CODE, path, message, hint)


def is_ours(name: str) -> bool:
    """Whether a service account of this name belongs to an agent of Stowplan."""
    return name.startswith(_PREFIX) or name.endswith(_ENDINGS)


def forbidden(obj: OutputObject, path: FieldPath, name: str) -> ObjectFinding:
    """Return the finding about a pod that names `name`, the service account of an agent, at `path`."""
    message = f'The service account "{name}" is that of an agent of Stowplan, whose rights the pod would have.'
    return about(obj, _CODE, path, message, "Make an account of your own, or use the one called default.")
