"""Install the Node that cdk8s needs before any test module imports cdk8s."""

import stowplan.library.constructs  # noqa: F401
