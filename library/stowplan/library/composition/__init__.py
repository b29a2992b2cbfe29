"""cdk8s in a Node.js process of our own.

`stowplan.library.constructs` builds the same constructs through jsii, which asks Node about every object and every
field. Here many charts go to Node in one request, and their rendered objects come back in one response.
"""
