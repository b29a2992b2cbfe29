"""The kinds there are, and how each is lowered."""

from stowplan.library.dialects import data_cube, mx_job, paddle_job, sample_job, sample_set, training_job
from stowplan.library.dialects.context import Context, Lowered
from stowplan.schema.data_cube import DataCube
from stowplan.schema.mx_job import MxJob
from stowplan.schema.paddle_job import PaddleJob
from stowplan.schema.sample_job import SampleJob
from stowplan.schema.sample_set import SampleSet
from stowplan.schema.training_job import TrainingJob

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
