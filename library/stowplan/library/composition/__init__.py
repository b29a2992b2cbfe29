"""Specs as charts of cdk8s, rendered by a Node of our own.

The same constructs as `stowplan.library.constructs` builds through jsii, which asks Node about every object and every
field of it; here a spec goes to Node as two lines of JSON, and Node says whether cdk8s renders the very same.
"""

from stowplan.library.composition.composer import Composer
from stowplan.library.composition.packages import unpack

__all__ = ["Composer", "unpack"]
