"""Which files of specs belong to an environment."""

import pytest

from stowplan.compiler.environments.file_patterns import chosen, unmatched


@pytest.mark.parametrize(
    ("patterns", "path", "belongs"),
    [
        ([], "specs/a.yaml", True),
        (["specs/**"], "specs/a/b.yaml", True),
        (["specs/*.yaml"], "specs/a/b.yaml", False),
        (["specs/**/b.yaml"], "specs/b.yaml", True),
        (["specs/**/b.yaml"], "specs/a/c/b.yaml", True),
        (["specs/**", "!specs/prod-*"], "specs/prod-a.yaml", False),
        (["specs/**", "!specs/prod-*"], "specs/prod-a/b.yaml", False),
        (["specs/**", "!specs/prod", "specs/prod/a.yaml"], "specs/prod/a.yaml", True),
        (["!specs/prod/"], "specs/prod/a.yaml", False),
        (["!specs/prod/"], "specs/production.yaml", True),
        (["specs/a?.yaml"], "specs/ab.yaml", True),
        (["specs/a.yaml"], "specs/abyaml", False),
    ],
)
def test_the_last_pattern_that_fits_counts(patterns: list[str], path: str, *, belongs: bool) -> None:
    assert chosen(path, patterns) is belongs


def test_patterns_without_a_file_are_found() -> None:
    assert unmatched(["specs/**", "!specs/x*", "spec/a.yaml"], ["specs/a.yaml"]) == [1, 2]
