"""The legacy kinds, each with the function that plans the migration of a spec. Its first argument is the model."""

from collections.abc import Callable, Mapping
from typing import Any

from stowplan.compiler.migrate.native.kinds import (
    data_cube,
    mx_job,
    paddle_job,
    sample_job,
    sample_set,
    training_job,
)
from stowplan.compiler.migrate.native.plan import MigrationPlan
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec

PLANS: Mapping[str, Callable[[Any, Spec, Scope], MigrationPlan]] = {
    "DataCube": data_cube.plan,
    "MxJob": mx_job.plan,
    "PaddleJob": paddle_job.plan,
    "SampleJob": sample_job.plan,
    "SampleSet": sample_set.plan,
    "TrainingJob": training_job.plan,
}
