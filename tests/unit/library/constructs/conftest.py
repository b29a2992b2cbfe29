"""Brings the Node that cdk8s runs on, before any test module imports cdk8s."""

import stowplan.library.constructs  # noqa: F401
