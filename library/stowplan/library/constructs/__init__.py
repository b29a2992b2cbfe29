"""Constructs: compiled specs inside a cdk8s app.

Importing this package starts the Node.js of `composition.node.program`. Import it before `cdk8s`, or set `JSII_NODE`
yourself: the first import of cdk8s decides which Node.js runs.
"""

from stowplan.library.constructs.node import prepare_node

prepare_node()

from stowplan.library.constructs.app import SpecApp  # noqa: E402  # Node comes first
from stowplan.library.constructs.charts import SpecChart  # noqa: E402
from stowplan.library.constructs.generated import kinds  # noqa: E402
from stowplan.library.constructs.generated.kinds import *  # noqa: E402, F403
from stowplan.library.constructs.jsii_composer import JsiiComposer  # noqa: E402
from stowplan.library.constructs.spec_error import SpecError  # noqa: E402
from stowplan.library.constructs.specs import SpecConstruct  # noqa: E402
from stowplan.library.constructs.written import Displaced, Extended, Written  # noqa: E402

__all__ = [
    "Displaced",
    "Extended",
    "JsiiComposer",
    "SpecApp",
    "SpecChart",
    "SpecConstruct",
    "SpecError",
    "Written",
]
__all__ += kinds.__all__
