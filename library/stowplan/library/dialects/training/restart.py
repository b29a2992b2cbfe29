"""`spec.restart` of a Training: when the whole job starts again."""

from collections.abc import Iterator

from stowplan.library.dialects.training_group import restarts
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.ir.restart import Restart, all_but
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding
from stowplan.schema.kinds.native.training import Training, TrainingSpec
from stowplan.schema.meta import RESTARTS_ANNOTATION

PATH: FieldPath = ("spec", "restart")
LIMIT = "activeDeadlineSeconds"
"""The field for a limit of time."""


def restart(spec: TrainingSpec) -> Restart | None:
    """Return when the job starts again; None without `restart`. Without exit codes, those of the framework count."""
    given = spec.restart
    if given is None:
        return None
    final = PLUGINS[spec.framework].final
    if given.fail_on is not None:
        final = tuple(sorted(set(given.fail_on)))
    elif given.retry_on is not None:
        final = all_but(given.retry_on)
    return Restart(given.max, final)


def findings(model: Training) -> Iterator[Finding]:
    """Yield findings about exit codes, and about the annotation of other kinds."""
    spec = model.spec
    if RESTARTS_ANNOTATION in model.metadata.annotations:
        message = "The annotation has no effect on a Training, which has a field for it."
        hint = "Remove it, and write `restart: {max: 3}` with its number."
        yield finding("SP406", restarts.ANNOTATION, message, hint, anchor=Anchor.KEY)
    if spec.restart and spec.restart.fail_on is not None and spec.restart.retry_on is not None:
        message = "`failOn` says which exit codes end the job, and `retryOn` which ones do not."
        yield finding("SP711", (*PATH, "retryOn"), message, "Give one of the two.", anchor=Anchor.KEY)
    bereft, asked = PLUGINS[spec.framework].bereft, restart(spec)
    if asked and bereft in asked.final and spec.num_nodes > 1:
        message = f"When a node is lost, the others end with {bereft}, which ends the job if they are faster."
        hint = "Let this code restart it too, as with `failOn: [2, 126, 127]`."
        yield finding("SP716", PATH, message, hint, anchor=Anchor.KEY)
