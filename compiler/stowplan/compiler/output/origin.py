"""The platform file that an output folder was compiled by."""

from pathlib import Path

import yaml

from stowplan.compiler.diagnostics.locations import is_platform_file
from stowplan.compiler.output import paths
from stowplan.compiler.output.render import LONGEST_HEADER, source_in

_LEVELS = ("", "*/", "*/*/")
"""Where the output of a target begins below the output folder: environments and clusters have folders of their own."""


def platform_file_of(out: Path) -> str:
    """Return the path of the platform file that the headers in an output folder name; empty if none does.

    The objects of Argo CD and the CRDs come from it.
    """
    for level in _LEVELS:
        for name in (paths.ROOT, f"{paths.CRDS}/*.yaml"):
            source = next((found for file in sorted(out.glob(level + name)) if (found := _source(file))), "")
            if is_platform_file(source):
                return source
    return ""


def _source(file: Path) -> str:
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as content:
            source = yaml.safe_load(source_in(content.read(LONGEST_HEADER)))
    except (OSError, yaml.YAMLError):
        return ""
    return source if isinstance(source, str) else ""
