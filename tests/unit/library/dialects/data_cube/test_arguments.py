"""Flags of the old tools, converted to the fields that replaced them."""

from typing import Any

import pytest

from stowplan.library.dialects.data_cube.arguments import understood
from stowplan.library.dialects.data_cube.remotes.registry import REMOTES


@pytest.mark.parametrize(
    ("kind", "arguments", "settings"),
    [
        ("huggingface", ["--repo-type", "dataset"], {"repo-type": "dataset"}),
        ("huggingface", ["--repo-type=space"], {"repo-type": "space"}),
        ("huggingface", ["--include", "a", "b", "--exclude", "c"], {"include": ["a", "b"], "exclude": ["c"]}),
        ("huggingface", ["--include=a"], {"include": ["a"]}),
        ("huggingface", ["--revision", "v1", "--revision", "v2"], {"revision": "v2"}),
        ("s3", ["--transfers", "16"], {"parallelism": 16}),
        ("s3", ["--s3-chunk-size", "64M"], {"part_size_mib": 64}),
        ("s3", ["--s3-chunk-size=1G"], {"part_size_mib": 1024}),
        ("s3", ["--s3-chunk-size", "10240"], {"part_size_mib": 10}),
        ("s3", ["--s3-chunk-size", "16MiB"], {"part_size_mib": 16}),
        ("s3", ["--s3-chunk-size", "1k"], {"part_size_mib": 5}),
        ("s3", ["--s3-chunk-size", "10485760B"], {"part_size_mib": 10}),
        ("s3", ["--low-level-retries", "0"], {"request_retries": 0}),
        ("s3", ["--s3-force-path-style"], {"path_style": True}),
        ("s3", ["--s3-force-path-style=false"], {"path_style": False}),
        ("s3", ["--s3-no-check-bucket"], {"s3-no-check-bucket": "true"}),
        ("git", ["--depth", "1"], {"depth": 1}),
        ("git", ["--recursive"], {"submodules": True}),
        ("git", ["-b", "main"], {"ref": "main"}),
        ("git", [], {}),
    ],
)
def test_flags_become_settings(kind: str, arguments: list[str], settings: dict[str, Any]) -> None:
    found, problems = understood(REMOTES[kind], arguments)
    assert (found.settings, problems) == (settings, [])


@pytest.mark.parametrize(
    ("kind", "arguments", "places"),
    [
        ("s3", ["--transfers", "many"], [0]),
        ("s3", ["--transfers", "0"], [0]),
        ("s3", ["--transfers"], [0]),
        ("s3", ["--transfers", "--s3-region", "x"], [0]),
        ("s3", ["--s3-chunk-size", "large"], [0]),
        ("s3", ["--bwlimit", "10M", "--fast"], [0, 2]),
        ("s3", ["stray"], [0]),
        ("huggingface", ["--repo-type", "datasets"], [0]),
        ("huggingface", ["--include"], [0]),
        ("huggingface", ["--token", "abc"], [0]),
        ("git", ["--depth=none", "--force"], [0, 1]),
        ("git", ["--config", "core.hooksPath=/x"], [0]),
        ("git", ["--upload-pack=sh"], [0]),
    ],
)
def test_an_unknown_flag_is_refused_at_its_position(kind: str, arguments: list[str], places: list[int]) -> None:
    _, problems = understood(REMOTES[kind], arguments)
    assert [(problem.code, problem.path[-1]) for problem in problems] == [("SP496", place) for place in places]


@pytest.mark.parametrize(
    ("flag", "field"),
    [
        ("--bwlimit=10M", "`executor.options.maxBytesPerSecond`"),
        ("--include=*.bin", "`s3.include`"),
        ("--exclude=*.tmp", "`s3.exclude`"),
        ("--filter=- *.tmp", "`s3.exclude`"),
        ("--files-from=names", "`s3.include`"),
    ],
)
def test_a_refused_flag_of_rclone_names_the_field_in_its_place(flag: str, field: str) -> None:
    _, (problem,) = understood(REMOTES["s3"], [flag])
    assert field in problem.hint
    assert "no field" not in problem.message


def test_no_value_of_a_refused_flag_is_shown() -> None:
    _, (problem,) = understood(REMOTES["huggingface"], ["--token=hf_secret"])
    assert "hf_secret" not in problem.message + problem.hint


@pytest.mark.parametrize("kind", REMOTES)
def test_flags_that_only_concerned_the_tool_are_left_out_with_a_warning(kind: str) -> None:
    for name, flag in REMOTES[kind].flags.items():
        if not flag.setting:
            found, problems = understood(REMOTES[kind], [name, *["x"] * flag.takes])
            assert (found.settings, [problem.code for problem in problems]) == ({}, ["SP406"])
