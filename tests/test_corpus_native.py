"""Real documents of the replaced systems, migrated to native kinds. They are not part of this repository."""

from collections import Counter

import pytest
import yaml

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from stowplan.compiler.migrate.native import files
from stowplan.compiler.yaml import comments
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.parse_model import read
from tests.repositories import CORPUS, corpus

pytestmark = pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")

STAY = {
    "datacube-download-s3",
    "datacube-upload-hf",
    "paddlejob-ps-demo",
    "paddlejob-resnet50",
    "paddlejob-wide-ande-deep",
    "paddlejob-wide-ande-deep-service",
    "samplejob-imagenet-clear",
    "samplejob-imagenet-rmr",
    "samplejob-imagenet-sync",
    "samplejob-imagenet-warmup",
    "sampleset-imagenet",
    "trainingjob-examplejob",
}
"""The documents that stay what they are."""

IN_THE_WAY = ("paddlejob-ps-demo", "samplejob-imagenet-sync")
"""Documents without which the SampleSet and all that refer to it become native."""

TOGETHER = {
    "paddlejob-resnet50",
    "samplejob-imagenet-clear",
    "samplejob-imagenet-rmr",
    "samplejob-imagenet-warmup",
    "sampleset-imagenet",
}
"""These then become native too."""


def without(*names: str) -> dict[str, str]:
    return {name: text for name, text in corpus().items() if title(name) not in names}


def title(name: str) -> str:
    """A file's name without suffix and digest."""
    return name.removesuffix(".yaml").rpartition("-")[0]


def migrated(texts: dict[str, str]) -> tuple[dict[str, str], list[Diagnostic]]:
    report = Report()
    changed = files.migrated(texts, report)
    assert not report.failed, report.diagnostics
    return changed, list(report.diagnostics)


def test_each_document_becomes_native_or_says_why_not() -> None:
    texts = corpus()
    changed, found = migrated(texts)
    assert {title(each.location.file) for each in found if each.code == "SP427"} == STAY
    assert {title(name) for name in changed} == {title(name) for name in texts} - STAY


def test_a_dataset_and_all_that_refer_to_it_become_native_together() -> None:
    texts = without(*IN_THE_WAY)
    changed, _ = migrated(texts)
    assert {title(name) for name in changed} == {title(name) for name in texts} - (STAY - TOGETHER)


@pytest.mark.parametrize("names", [(), IN_THE_WAY])
def test_what_became_native_is_valid_and_stays_as_it_is(names: tuple[str, ...]) -> None:
    texts = without(*names)
    changed, _ = migrated(texts)
    for text in changed.values():
        document = yaml.safe_load(text)
        assert document["apiVersion"] == "stowplan.dev/v1alpha1"
        model, found = read(KINDS[document["kind"]].model, document)
        assert (model is not None, found) == (True, [])
    again, _ = migrated(texts | changed)
    assert again == {}


def test_no_comment_is_lost() -> None:
    texts = without(*IN_THE_WAY)
    changed, _ = migrated(texts)
    assert {name: comments.words(text) for name, text in changed.items()} == {
        name: comments.words(texts[name]) for name in changed
    }
    assert sum((comments.words(text) for text in changed.values()), Counter[str]()).total() > len(changed)


def test_identities_stay() -> None:
    texts = without(*IN_THE_WAY)
    changed, _ = migrated(texts)
    for name, text in changed.items():
        assert yaml.safe_load(text)["metadata"] == yaml.safe_load(texts[name])["metadata"]
