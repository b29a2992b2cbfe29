"""Specs as charts of cdk8s, rendered by a Node of our own.

The same constructs as `stowplan.library.constructs` builds through jsii, which asks Node about every object and every
field of it; here a spec goes to Node and comes back as one line of JSON each.
"""

from stowplan.library.composition.composer import Composer
from stowplan.library.composition.packages import unpack

__all__ = ["Composer", "unpack"]
