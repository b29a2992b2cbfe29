"""The visible state of custom resources: the table of `kubectl get`, the conditions, and the health in Argo CD."""

import re
from collections.abc import Collection, Sequence
from typing import Any

from stowplan.compiler.live.spec_status import assess
from stowplan.library.health import scripts
from tests.cluster.client import Client, Manifest

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
"""What kubectl asks for: the server makes the table."""
AGE = "<age>"
SIZE = "<size>"
_SIZES = {"TOTAL SIZE", "CACHED SIZE", "AVAIL SPACE"}
"""Columns that depend on the disk, and on when somebody measured last."""
NODE = re.compile(r"\bnode-\d+\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
ORDINAL = re.compile(r"-\d$")
"""At the end of the names of pods that keep them."""
BYTES = re.compile(r"\b\d+ bytes\b")
"""Markers of Stowplan count too, and hold times and addresses."""
LOOPBACK = re.compile(r"\b127(\.\d+){3}(:\d+)?\b")


def table(client: Client, resource: Manifest) -> list[str]:
    """`kubectl get` of the resource's kind in its namespace, ages masked."""
    response = client.http.get(client.collection(resource), headers={"Accept": TABLE})
    assert response.is_success, response.text
    found = response.json()
    columns = [(number, each) for number, each in enumerate(found["columnDefinitions"]) if each.get("priority", 0) == 0]
    rows = [[each["name"].upper() for _, each in columns]]
    rows += [[_cell(row["cells"][number], each) for number, each in columns] for row in found["rows"]]
    widths = [max(len(row[number]) for row in rows) for number in range(len(columns))]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(value: Any, column: Manifest) -> str:
    if column["type"] == "date" or column.get("format") == "date":
        return AGE if value else ""
    text = "" if value is None else str(value)
    return SIZE if column["name"] in _SIZES else text


def account(live: Manifest) -> list[str]:
    """Health, who reported, and the conditions of one resource."""
    health = health_of(live)
    who = ", ".join(managers(live)) or "NO AGENT"
    lines = [f"{live['kind']} {live['metadata']['name']}: {health['status']}, {health['message']!r}; told by {who}"]
    for each in live.get("status", {}).get("conditions") or ():
        words = f": {each['message']}" if each.get("message") else ""
        lines.append(f"  {each['type']}={each['status']} {each['reason']}{words}")
    return lines


def health_of(live: Manifest) -> dict[str, str]:
    """What Argo CD says."""
    group = live["apiVersion"].partition("/")[0]
    return assess(scripts()[f"{group}_{live['kind']}"], live)


def managers(live: Manifest) -> list[str]:
    """Who wrote into the status."""
    fields = live["metadata"].get("managedFields", [])
    return sorted({each["manager"] for each in fields if each.get("subresource") == "status"})


def masked(text: str, pods: Collection[str], runs: Sequence[str]) -> str:
    """Without what is another one each time: the ends of names of pods and runs, nodes, times, addresses."""
    for name in sorted(pods, key=len, reverse=True):
        if not ORDINAL.search(name):
            text = text.replace(name, f"{name[:-5]}<xxxxx>")
    for number, run in enumerate(runs, start=1):
        text = text.replace(run, f"<run {number}>")
    for pattern, word in ((NODE, "<node>"), (TIME, "<time>"), (LOOPBACK, "<address>"), (BYTES, "<n> bytes")):
        text = pattern.sub(word, text)
    return text
