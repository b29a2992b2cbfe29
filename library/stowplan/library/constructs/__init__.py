"""Constructs: compiled specs inside a cdk8s app.

Importing this package starts the Node.js of `composition.node.program`. Import it before `cdk8s`, or set `JSII_NODE`
yourself: the first import of cdk8s decides which Node.js runs.
"""

from stowplan.library.constructs.node import prepare_node

prepare_node()

from stowplan.library.constructs.charts import SpecChart  # noqa: E402  # Node comes first
from stowplan.library.constructs.extension_app import Displaced, Extended, ExtensionApp  # noqa: E402
from stowplan.library.constructs.jsii_composer import JsiiComposer  # noqa: E402
from stowplan.library.constructs.manifest_set import ManifestSet  # noqa: E402
from stowplan.library.constructs.reading import SpecError  # noqa: E402
from stowplan.library.constructs.specs import (  # noqa: E402
    DataCube,
    MxJob,
    PaddleJob,
    SampleJob,
    SampleSet,
    SpecConstruct,
    Training,
    TrainingJob,
)

__all__ = [
    "DataCube",
    "Displaced",
    "Extended",
    "ExtensionApp",
    "JsiiComposer",
    "ManifestSet",
    "MxJob",
    "PaddleJob",
    "SampleJob",
    "SampleSet",
    "SpecChart",
    "SpecConstruct",
    "SpecError",
    "Training",
    "TrainingJob",
]
