"""What a run waits for that is compiled closed."""

from typing import NamedTuple

from stowplan.schema.agents.gate_config import ReadyCondition
from stowplan.schema.meta import SpecId


class Wait(NamedTuple):
    """A spec that must be ready, by a condition of its status.

    `run` is the hash at the end of the names of its Jobs, and `digest` that of its custom resource
    (`gate_config.digest`): what an older run or an older spec reports does not count.
    """

    spec: SpecId
    condition: ReadyCondition
    run: str
    digest: str
    revision: str | None = None
    """Revision that the spec's status must report, such as a commit; None for any."""


class Gate(NamedTuple):
    """The waits of a run, at least one. An agent opens the run when all are over.

    `timeout` is the number of seconds after which the run fails, None for no limit. With `admission` Kueue holds the
    run back; otherwise `spec.suspend` does.
    """

    waits: tuple[Wait, ...]
    timeout: int | None = None
    admission: bool = False
