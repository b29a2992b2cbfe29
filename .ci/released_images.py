"""Writes which images a release has: `python .ci/released_images.py REGISTRY FOLDER`, with Stowplan installed.

FOLDER has a file for each image of the agents, such as `cache`, which holds its digest. What is written goes into the
wheel, and `stowplan init` takes the images from there.
"""

import sys
from pathlib import Path

from pydantic import ValidationError

from stowplan.compiler.generate.starter.released import FILE
from stowplan.schema.platform.settings import Digests, Images


def write(registry: str, folder: Path) -> str:
    """Write the file, unless an image or a digest is missing; then return what is wrong."""
    missing = [agent for agent in Digests.model_fields if not (folder / agent).is_file()]
    if missing:
        return f"{folder} has no digest of {', '.join(missing)}."
    digests = {agent: (folder / agent).read_text(encoding="utf-8").strip() for agent in Digests.model_fields}
    try:
        images = Images.model_validate({"registry": registry, "digests": digests})
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    text = images.model_dump_json(include={"registry", "digests"}, indent=2)
    FILE.write_text(f"{text}\n", encoding="utf-8")
    return ""


if __name__ == "__main__":
    sys.exit(write(sys.argv[1], Path(sys.argv[2])) or 0)
