"""Requests to cdk8s and their responses, for any Node.js process. `compose.js` describes the protocol."""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Protocol

import orjson

from stowplan.library.composition.crossing import crosses
from stowplan.library.composition.tree import ChartSource
from stowplan.library.manifest import Json, Manifest

_HEAD = ("apiVersion", "kind", "metadata")

Exchange = Callable[[bytes], bytes]
"""Sends Node.js a request, a line without its line end, and returns the response. Both are JSON."""


class Composer(Protocol):
    """A Node.js process that renders charts with cdk8s."""

    def render(self, charts: Sequence[ChartSource]) -> list[tuple[Manifest, ...]]:
        """Return each chart's manifests, in order, as cdk8s renders them; `RuntimeError` if it or Node.js fails."""

    def close(self) -> None:
        """End all processes that the composer started. Call it once, after the last `render`."""


def render(charts: Sequence[ChartSource], exchange: Exchange) -> list[tuple[Manifest, ...]]:
    """Return the manifests of each chart, in the order of `charts`, with the heads that cdk8s rendered.

    The head of an object is what cdk8s knows of it: apiVersion, kind and metadata. All else would come back as it is,
    and stays here. A manifest whose head cannot be carried is not sent to cdk8s and is returned unchanged: Kubernetes
    refuses it, and the check stage reports that. `exchange` is called once, with the request for all charts. Raises
    `RuntimeError` if cdk8s refuses a chart or if the response of Node.js is malformed: these are bugs of Stowplan or of
    its installation.
    """
    carried = [[_can_be_carried(_head(manifest)) for manifest in chart.manifests] for chart in charts]
    request = [_request(chart, mask) for chart, mask in zip(charts, carried, strict=True)]
    response = _read(exchange(orjson.dumps(request)), len(charts))
    return [_rendered(*parts) for parts in zip(charts, carried, response, strict=True)]


def can_be_carried(manifest: Manifest) -> bool:
    """Return whether cdk8s renders all of the manifest unchanged, also what `render` does not send to it."""
    return _can_be_carried(manifest.body)


def _can_be_carried(body: Json) -> bool:
    """Return whether cdk8s renders an object unchanged. It refuses an apiVersion with more than one slash."""
    return str(body["apiVersion"]).count("/") < 2 and crosses(body)


def _head(manifest: Manifest) -> Json:
    return {key: manifest.body[key] for key in _HEAD}


def _request(chart: ChartSource, carried: Sequence[bool]) -> Json:
    return {
        "chart": chart.id,
        "name": chart.name,
        "ids": list(compress(chart.child_ids, carried)),
        "objects": [_head(manifest) for manifest in compress(chart.manifests, carried)],
    }


def _rendered(chart: ChartSource, carried: Sequence[bool], objects: Any) -> tuple[Manifest, ...]:
    if not isinstance(objects, list) or len(objects) != sum(carried):
        raise RuntimeError(f"cdk8s refused {chart.name} in {chart.id}: {objects}")
    heads = iter(objects)
    parts = zip(chart.manifests, carried, strict=True)
    return tuple(Manifest({**each.body, **next(heads)}, each.stem, each.run) if mask else each for each, mask in parts)


def _read(response: bytes, number: int) -> list[Any]:
    """Return the list in the JSON `response`. Raises `RuntimeError` if it is no list of `number` items."""
    try:
        found = orjson.loads(response)
    except orjson.JSONDecodeError as error:
        raise RuntimeError(f"Node responded with something other than JSON: {error}") from error
    if not isinstance(found, list) or len(found) != number:
        raise RuntimeError(f"Node did not respond with {number} charts")
    return found
