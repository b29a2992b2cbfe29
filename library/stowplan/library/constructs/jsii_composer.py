"""Renders charts in the Node.js process that jsii has started.

A command with extensions needs jsii anyway; with this module it needs no second process. `compose.js` becomes a jsii
module with one class and one static method, which takes a request and returns its response as strings.
"""

import io
import json
import tarfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import jsii

from stowplan.library.composition.packages import SCRIPT, script
from stowplan.library.composition.rendering import render
from stowplan.library.composition.tree import ChartSource

_NAME, _VERSION = "stowplan-composition", "0.0.0"
_CLASS, _METHOD = "Composition", "respond"

_STRING = {"type": {"primitive": "string"}}
_ASSEMBLY = {
    "schema": "jsii/0.10.0",
    "name": _NAME,
    "version": _VERSION,
    "jsiiVersion": "5.0.0",
    "types": {
        f"{_NAME}.{_CLASS}": {
            "assembly": _NAME,
            "fqn": f"{_NAME}.{_CLASS}",
            "kind": "class",
            "name": _CLASS,
            "methods": [
                {"name": _METHOD, "static": True, "parameters": [{"name": "request", **_STRING}], "returns": _STRING}
            ],
        }
    },
}
"""Description of the module in the format of `@jsii/spec`. The jsii compiler would write it for TypeScript."""


class JsiiComposer:
    """A `Composer` that uses the Node.js process of jsii. That process ends with Python."""

    def render(self, charts: Sequence[ChartSource]) -> list[ChartSource]:
        """See `rendering.render`. Also raises `RuntimeError` if Node.js has ended or cannot load the module."""
        return render(charts, _exchange)

    def close(self) -> None:
        """Do nothing: jsii ends its Node.js process."""


def _exchange(request: bytes) -> bytes:
    try:
        response: str = jsii.sinvoke(_composition(), _METHOD, [request.decode()])
    except (OSError, ValueError) as error:  # The pipe is closed, or an empty line is no JSON.
        raise RuntimeError(f"jsii did not render charts: {error}") from error
    return response.encode()


@cache
def _composition() -> type:
    """Load the module into jsii and return its class."""
    with TemporaryDirectory() as folder:
        archive = Path(folder, "composition.tgz")
        _pack(archive)
        jsii.load(_NAME, _VERSION, str(archive))
    return jsii.JSIIMeta(_CLASS, (), {}, jsii_type=f"{_NAME}.{_CLASS}")


def _pack(archive: Path) -> None:
    """Write the npm package that jsii loads to the file `archive`, as a compressed tar archive."""
    package = {"name": _NAME, "version": _VERSION, "main": SCRIPT, "jsii": {}}
    files = {
        "package.json": json.dumps(package).encode(),
        ".jsii": json.dumps(_ASSEMBLY).encode(),
        SCRIPT: script(),
    }
    with tarfile.open(archive, "w:gz") as opened:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))
