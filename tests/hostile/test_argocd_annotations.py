"""Annotations that would run code in Argo CD's pages, or let Argo CD delete compiled objects."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.repositories import compiled

Json = dict[str, Any]
LINK = "link.argocd.argoproj.io/docs"
OPTIONS, HOOK = "argocd.argoproj.io/sync-options", "argocd.argoproj.io/hook"
API = "batch.paddlepaddle.org"

BAD_LINKS = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "Docs | javascript:alert(1)",
    "https://docs.example.com | javascript:alert(1)",
    "https://docs.example.com|javascript:alert(1)|https://docs.example.com",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "//docs.example.com",
    "docs.example.com",
    "",
]
GOOD_LINKS = ["https://docs.example.com/a?b=c#d", "http://docs.example.com", "Docs | https://docs.example.com/a"]


def dataset(annotations: Json) -> Json:
    spec = {"partitions": 1, "secretRef": {"name": "a"}, "noSync": True}
    return _made("SampleSet", f"{API}/v1alpha1", annotations, spec)


def job(annotations: Json, of_pods: Json) -> Json:
    spec = {"containers": [{"name": "main", "image": "a.example.com/a:1"}]}
    worker = {"replicas": 1, "template": {"metadata": {"annotations": of_pods}, "spec": spec}}
    return _made("PaddleJob", f"{API}/v1", annotations, {"worker": worker})


def cube(of_claim: Json) -> Json:
    template = {
        "metadata": {"annotations": of_claim},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    source = {"type": "git", "options": [{"name": "url", "value": "https://git.example.com/a.git"}]}
    sink = {"type": "pvc", "pvc": {"name": "models", "subPath": "a", "template": template}}
    return _made("DataCube", "tensorstack.dev/v1beta1", {}, {"source": source, "sink": sink})


def _made(kind: str, api: str, annotations: Json, spec: Json) -> Json:
    meta = {"name": "a", "namespace": "ml", "annotations": annotations}
    return {"apiVersion": api, "kind": kind, "metadata": meta, "spec": spec}


def codes(repo: Path, document: Json) -> set[str]:
    platform = "kind: Platform\nimages: {registry: r.example.com/ml}\npassThrough: [{kind: ConfigMap}]\n---\n"
    return {found.code for found in compiled(repo, {"a.yaml": platform + yaml.safe_dump(document)}).errors}


@pytest.mark.parametrize("link", BAD_LINKS)
def test_a_link_is_a_web_address(link: str, tmp_path: Path) -> None:
    plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "annotations": {LINK: link}}}
    places = (dataset({LINK: link}), job({LINK: link}, {}), job({}, {LINK: link}), cube({LINK: link}), plain)
    for index, document in enumerate(places):
        (tmp_path / str(index)).mkdir()
        assert codes(tmp_path / str(index), document) == {"SP609"}


@pytest.mark.parametrize("link", GOOD_LINKS)
def test_web_addresses_pass(link: str, tmp_path: Path) -> None:
    assert codes(tmp_path, job({LINK: link}, {LINK: link})) == set()


@pytest.mark.parametrize("value", ["Force=true,Replace=true", "Replace=true", "Prune=false, Force=true"])
def test_a_custom_resource_is_never_replaced(value: str, tmp_path: Path) -> None:
    for index, document in enumerate((dataset({OPTIONS: value}), job({OPTIONS: value}, {}))):
        (tmp_path / str(index)).mkdir()
        assert codes(tmp_path / str(index), document) == {"SP610"}


@pytest.mark.parametrize("value", ["PreSync", "PostSync", "Skip", "Sync", "PostDelete"])
def test_nothing_of_a_spec_becomes_a_hook(value: str, tmp_path: Path) -> None:
    """Argo CD deletes hooks: a claim with one would be gone after the sync."""
    documents = (("SP610", dataset({HOOK: value})), ("SP610", job({HOOK: value}, {})), ("SP322", cube({HOOK: value})))
    for index, (code, document) in enumerate(documents):
        (tmp_path / str(index)).mkdir()
        assert code in codes(tmp_path / str(index), document)


def test_options_that_only_keep_pass(tmp_path: Path) -> None:
    assert codes(tmp_path, dataset({OPTIONS: "Prune=false,Delete=false"})) == set()
