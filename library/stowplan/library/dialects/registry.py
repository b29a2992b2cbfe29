"""The kinds there are, and how each is lowered."""

from stowplan.library.dialects.data_cube import lower as data_cube
from stowplan.library.dialects.dataset import sample_job, sample_set
from stowplan.library.dialects.mx_job import lower as mx_job
from stowplan.library.dialects.paddle_job import lower as paddle_job
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training_job import lower as training_job
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.training_job import TrainingJob

Spec = SampleSet | SampleJob | PaddleJob | TrainingJob | MxJob | DataCube


def lower(model: Spec, context: Context) -> Lowered:
    """The manifests of one spec. Never raises for a user's mistake; what is wrong is in the findings."""
    match model:
        case SampleSet():
            return sample_set.lower(model, context)
        case SampleJob():
            return sample_job.lower(model, context)
        case PaddleJob():
            return paddle_job.lower(model, context)
        case TrainingJob():
            return training_job.lower(model, context)
        case MxJob():
            return mx_job.lower(model, context)
        case DataCube():
            return data_cube.lower(model, context)
