"""The agents' images of this release, for the platform file of a new repository.

A checkout has none. The workflow of a release writes `FILE` with the digests of the images that it pushed, and then
builds the wheel.
"""

from pathlib import Path

from stowplan.schema.platform.settings import Images

FILE = Path(__file__).with_name("released-images.json")

_IN_A_CHECKOUT = """\
# The registry that your agent images are pushed to. `make images REGISTRY=registry.example.com/ml` in a clone of this
# version builds them. Without it they are called local/stowplan-<agent>.
# images:
#   registry: registry.example.com/ml
#   tag: "{version}"
"""
_RELEASED = """\
# The agent images of Stowplan {version}. For those of a later version, run its `stowplan init` in an empty folder.
images:
  registry: {registry}
  digests:
{digests}\
"""


def images() -> Images | None:
    """Return where the images of this release are, with their digests; None in a checkout."""
    return Images.model_validate_json(FILE.read_bytes()) if FILE.exists() else None


def platform_lines(version: str) -> str:
    """Return the field `images` of a new platform file, in a checkout as a comment. `version` is that of Stowplan."""
    found = images()
    if found is None:
        return _IN_A_CHECKOUT.format(version=version)
    digests = "".join(f"    {agent}: {digest}\n" for agent, digest in found.digests if digest)
    return _RELEASED.format(version=version, registry=found.registry, digests=digests)
