"""Blocks of ports for jobs on the host network, which is the network of their cluster nodes.

The old operator took ports from a counter in its memory. Here they depend only on the job's namespace and name, so that
no other job can change them. Overlapping blocks of two jobs are reported (SP310). One of the jobs must then choose its
ports by annotation.
"""

import hashlib

from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.paddle_job import HOST_PORT_ANNOTATION
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.engines import HostPorts

LARGEST_PORT = 65535


def block(spec: SpecId, length: int, given: str | None, ports: HostPorts) -> tuple[range, list[Finding]]:
    """Return the ports of one job, and findings if there are none.

    They come from `given`, the value of the job's annotation, or from a hash of the job's name if `given` is None.
    `length` is their number, `ports` the platform's range for the hash.
    """
    if given is not None:
        return _chosen(given, length)
    slots = (ports.last - ports.first + 1) // length
    if slots < 1:
        message = f"The platform's range {ports.first}-{ports.last} is too small for {length} ports."
        return range(0), [finding("SP439", ("spec", "intranet"), message, "Widen `paddle.hostPorts`.")]
    digest = hashlib.sha256(f"{spec.namespace}/{spec.name}".encode()).digest()
    first = ports.first + length * (int.from_bytes(digest[:8]) % slots)
    return range(first, first + length), []


def _chosen(given: str, length: int) -> tuple[range, list[Finding]]:
    first = int(given) if given.isascii() and given.isdecimal() and len(given) <= len(str(LARGEST_PORT)) else 0
    last = LARGEST_PORT - length + 1
    if 1024 <= first <= last:
        return range(first, first + length), []
    message = f'Found "{given}"; the job needs {length} ports from a number between 1024 and {last} on.'
    path = ("metadata", "annotations", HOST_PORT_ANNOTATION)
    return range(0), [finding("SP439", path, message, "Give the first port, or remove the annotation.")]
