"""The kinds of spec that are known, and what plain Kubernetes kinds are called."""

from collections.abc import Mapping

from stowplan.compiler.kubernetes.schemas import known_kinds
from stowplan.compiler.model import SpecModel
from stowplan.library.manifest import group_of
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.kinds.mx_job import MxJob
from stowplan.schema.kinds.paddle_job import PaddleJob
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.platform.platform import GroupKind, Platform

MODELS: Mapping[str, type[SpecModel]] = {
    "DataCube": DataCube,
    "MxJob": MxJob,
    "PaddleJob": PaddleJob,
    "SampleJob": SampleJob,
    "SampleSet": SampleSet,
    "TrainingJob": TrainingJob,
}

GROUP = "batch.paddlepaddle.org"
API_VERSIONS: Mapping[str, str] = {
    "DataCube": "tensorstack.dev/v1beta1",
    "MxJob": "mxnet.mlkube.io/v1beta1",
    "PaddleJob": f"{GROUP}/v1",
    "SampleJob": f"{GROUP}/v1alpha1",
    "SampleSet": f"{GROUP}/v1alpha1",
    "TrainingJob": "paddlepaddle.org/v1alpha1",
}


def allowed(platform: Platform, api_version: str, kind: str) -> GroupKind | None:
    """The entry of `passThrough` that lets objects of this kind through, if there is one."""
    group = group_of(api_version)
    return next((each for each in platform.pass_through if (each.group, each.kind) == (group, kind)), None)


def is_built_in(kubernetes: str, api_version: str, kind: str) -> bool:
    """Whether Kubernetes itself has this kind."""
    group = group_of(api_version)
    return any((each.group, each.kind) == (group, kind) for each in known_kinds(kubernetes))


def is_namespaced(platform: Platform, api_version: str, kind: str) -> bool:
    """Whether objects of this kind have a namespace; what is not built in does unless the platform says otherwise."""
    group = group_of(api_version)
    for each in known_kinds(platform.kubernetes_version):
        if (each.group, each.kind) == (group, kind):
            return each.namespaced
    listed = allowed(platform, api_version, kind)
    return not (listed and listed.cluster_scoped)
