"""The operations on datasets in JuiceFS, and on claims that `juicefs sync` fills."""

from collections.abc import Callable, Mapping

from stowplan.agents.cache.drivers.api import Operations
from stowplan.agents.cache.drivers.juicefs.credentials import secrets
from stowplan.agents.cache.drivers.juicefs.tasks.clear import ClearTask
from stowplan.agents.cache.drivers.juicefs.tasks.remove import RemoveTask
from stowplan.agents.cache.drivers.juicefs.tasks.sync import SyncTask
from stowplan.agents.cache.drivers.juicefs.tasks.warmup import WarmupTask
from stowplan.agents.cache.drivers.task_settings import TaskConfig
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.schema.agents.cache_config import ClearConfig, RmrConfig, SyncConfig


def _task(config: TaskConfig, work: TaskWork, environment: Mapping[str, str]) -> Callable[[], str]:
    if isinstance(config, SyncConfig):
        return SyncTask(config, work, environment).run
    if isinstance(config, RmrConfig):
        return RemoveTask(config, work).run
    if isinstance(config, ClearConfig):
        return ClearTask(config, work).run
    return WarmupTask(config, work).run


OPERATIONS = Operations(secrets, _task)
