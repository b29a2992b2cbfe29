"""Hints that name the real cause of a common mistake."""

from pathlib import Path

import pytest

from stowplan.compiler.diagnostics.report import Diagnostic, Report
from tests.repositories import validated
from tests.unit.users import PLATFORM, SPEC, laid_out


def error(repo: Path, before: str, after: str, platform: str = PLATFORM) -> Diagnostic:
    """The only error after an edit of the spec."""
    assert before in SPEC
    laid_out(repo, SPEC.replace(before, after, 1), platform)
    report = Report()
    validated(repo, report)
    (found,) = (each for each in report.diagnostics if each.severity == "error")
    return found


@pytest.mark.parametrize(("version", "kind"), [("v1", "List"), ("batch.paddlepaddle.org/v1alpha1", "SampleSetList")])
def test_a_list_of_objects_is_to_be_written_as_documents(tmp_path: Path, version: str, kind: str) -> None:
    text = f"apiVersion: {version}\nkind: {kind}\nitems: []\n"
    laid_out(tmp_path, text)
    report = Report()
    validated(tmp_path, report)
    (found,) = report.diagnostics
    assert found.code == "SP207"
    assert "items" in found.hint
    assert "---" in found.hint


def test_a_volume_is_no_source(tmp_path: Path) -> None:
    found = error(tmp_path, "s3://imagenet.s3.eu-west-1.amazonaws.com/train/", "jfs://imagenet/train/")
    assert found.code == "SP402"
    assert "JuiceFS volume" in found.message
    assert "noSync: true" in found.hint


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("100Gi", "102400"),
        ("100GiB", "102400"),
        ("'100 Gi'", "102400"),
        ("1.5Ti", "1572864"),
        ("512Mi", "512"),
        ("512M", "488"),
        ("100GB", "95367"),
        ("100g", "95367"),
        ("2048Ki", "2"),
    ],
)
def test_a_size_with_a_unit_is_given_back_in_mebibytes(tmp_path: Path, written: str, number: str) -> None:
    found = error(tmp_path, "cacheSize: 1024", f"cacheSize: {written}")
    assert (found.code, found.hint) == ("SP203", f"The unit is MiB and is not written: give {number}.")


def test_sizes_of_mount_options_and_of_the_platform_are_converted_too(tmp_path: Path) -> None:
    options = "  csi: {juiceFSMountOptions: {buffer-size: 1Gi}}\n  cache:\n"
    assert error(tmp_path, "  cache:\n", options).hint.endswith("give 1024.")
    platform = f"{PLATFORM}juicefs: {{cacheSize: 10Gi}}\n"
    assert error(tmp_path, "imagenet", "imagenet", platform).hint.endswith("give 10240.")


@pytest.mark.parametrize(
    ("written", "hint"), [("lots", "Give a whole number."), ("'1024'", "Write it without quotes.")]
)
def test_other_strings_are_not_converted(tmp_path: Path, written: str, hint: str) -> None:
    assert error(tmp_path, "cacheSize: 1024", f"cacheSize: {written}").hint == hint


def test_a_number_of_other_things_has_no_unit(tmp_path: Path) -> None:
    assert error(tmp_path, "partitions: 1", "partitions: 1Gi").hint == "Give a whole number."


@pytest.mark.parametrize(
    ("scheme", "words"),
    [("hf", "DataCube of type huggingface"), ("git", "DataCube of type git"), ("https", "kind of storage")],
)
def test_a_source_that_juicefs_cannot_copy_names_what_can(tmp_path: Path, scheme: str, words: str) -> None:
    found = error(tmp_path, "s3://imagenet", f"{scheme}://imagenet")
    assert found.code == "SP402"
    assert words in found.hint


@pytest.mark.parametrize(
    ("written", "seconds"), [("2h", 7200), ("1h30m", 5400), ("90s", 90), ("1 d", 86400), ("'1H 1S'", 3601)]
)
def test_a_duration_with_a_unit_is_given_back_in_seconds(tmp_path: Path, written: str, seconds: int) -> None:
    spec = f"tolerations: [{{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: {written}}}]\n  cache:\n"
    found = error(tmp_path, "cache:\n", spec)
    assert found.hint == f"The unit is seconds and is not written: give {seconds}."
