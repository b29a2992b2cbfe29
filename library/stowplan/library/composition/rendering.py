"""Requests to cdk8s and their responses, for any Node.js process. `compose.js` describes the protocol."""

from collections.abc import Callable, Sequence, Set
from typing import Any, Protocol

import orjson

from stowplan.library.composition.crossing import crosses
from stowplan.library.composition.tree import ChartSource, TreeNode, changed, headed, nodes
from stowplan.library.manifest import Json, Manifest

_HEAD = ("apiVersion", "kind", "metadata")

Exchange = Callable[[bytes], bytes]
"""Sends Node.js a request, a line without its line end, and returns the response. Both are JSON."""


class Composer(Protocol):
    """A Node.js process that renders charts with cdk8s."""

    def render(self, charts: Sequence[ChartSource]) -> list[ChartSource]:
        """Return the charts with their manifests as cdk8s renders them; `RuntimeError` if it or Node.js fails."""

    def close(self) -> None:
        """End all processes that the composer started. Call it once, after the last `render`."""


def render(charts: Sequence[ChartSource], exchange: Exchange) -> list[ChartSource]:
    """Return the charts, in order, with the heads of their manifests as cdk8s rendered them.

    The head of an object is what cdk8s knows of it: apiVersion, kind and metadata. All else would come back as it is,
    and stays here. A manifest whose head cannot be carried is not sent to cdk8s: Kubernetes refuses it, and the check
    stage reports that. `exchange` is called once, with the request for all charts. Raises `RuntimeError` if cdk8s
    refuses a chart or if the response of Node.js is malformed: these are bugs of Stowplan or of its installation.
    """
    left_out = {id(each) for chart in charts for each in chart.manifests if not _can_be_carried(_head(each))}
    request = [_request(chart, left_out) for chart in charts]
    response = _read(exchange(orjson.dumps(request)), len(charts))
    return [_rendered(*each, left_out) for each in zip(charts, request, response, strict=True)]


def can_be_carried(manifest: Manifest) -> bool:
    """Return whether cdk8s renders all of the manifest unchanged, also what `render` does not send to it."""
    return _can_be_carried(manifest.body)


def _can_be_carried(body: Json) -> bool:
    """Return whether cdk8s renders an object unchanged. It refuses an apiVersion with more than one slash."""
    return str(body["apiVersion"]).count("/") < 2 and crosses(body)


def _head(manifest: Manifest) -> Json:
    return {key: manifest.body[key] for key in _HEAD}


def _request(chart: ChartSource, left_out: Set[int]) -> Json:
    own, cluster = (_sent(each, left_out) for each in nodes(chart))
    return {"namespace": chart.namespace, "labels": chart.labels, "own": own, "cluster": cluster}


def _sent(one: TreeNode, left_out: Set[int]) -> Json:
    """Return a construct as `compose.js` reads it, without the manifests whose `id` is in `left_out`."""
    objects = [[child, _head(manifest)] for child, manifest in one.objects if id(manifest) not in left_out]
    return {"id": one.id, "objects": objects, "parts": [_sent(each, left_out) for each in one.parts]}


def _rendered(chart: ChartSource, request: Json, response: Any, left_out: Set[int]) -> ChartSource:
    sizes = [_size(request["own"]), _size(request["cluster"])]
    if not isinstance(response, list) or [len(each) for each in response] != sizes:
        raise RuntimeError(f"cdk8s refused {chart.id}: {response}")
    own, cluster = map(iter, response)

    def manifest(each: Manifest) -> Manifest:
        if id(each) in left_out:
            return headed(each, chart)
        head = next(cluster if each.clustered else own)
        return Manifest({**each.body, **head}, each.stem, each.run, each.clustered)

    return changed(chart, manifest)


def _size(sent: Json) -> int:
    """Return the number of objects in a construct."""
    return len(sent["objects"]) + sum(map(_size, sent["parts"]))


def _read(response: bytes, number: int) -> list[Any]:
    """Return the list in the JSON `response`. Raises `RuntimeError` if it is no list of `number` items."""
    try:
        found = orjson.loads(response)
    except orjson.JSONDecodeError as error:
        raise RuntimeError(f"Node responded with something other than JSON: {error}") from error
    if not isinstance(found, list) or len(found) != number:
        raise RuntimeError(f"Node did not respond with {number} charts")
    return found
