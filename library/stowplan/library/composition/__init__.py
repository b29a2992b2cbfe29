"""Specs as cdk8s charts, rendered by Stowplan's own Node process.

They are the constructs that `stowplan.library.constructs` builds through jsii. jsii calls Node for every object and
every field; here Node gets each spec as two lines of JSON, and reports whether cdk8s renders equal objects.
"""

from stowplan.library.composition.composer import Composer
from stowplan.library.composition.packages import unpack

__all__ = ["Composer", "unpack"]
