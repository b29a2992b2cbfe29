"""cdk8s in a separate Node.js process.

`stowplan.library.constructs` builds the same constructs through jsii, which calls Node.js for every object and every
field. Here many charts go to Node.js in one request, and their rendered objects come back in one response.
"""
