"""Patterns of namespaces, as AppProjects of Argo CD match them."""

import pytest

from stowplan.library.values.namespace_patterns import permitted

ALLOWED = [
    ("ml", ["ml"]),
    ("ml", ["other", "*"]),
    ("team-a", ["team-?"]),
    ("team-a", ["team-[ab]"]),
    ("team-b", ["team-[a-c]"]),
    ("team-d", ["team-[!a-c]"]),
    ("team-d", ["team-[!abc]"]),
    ("b-1", ["{a,b}-?"]),
    ("team-b-2", ["team-{a,{b,c}-*}"]),
    ("ml", ["{ml,}"]),
    ("ml", ["!kube-*", "*"]),
    ("ml", ["!kube-*"]),
]
REFUSED = [
    ("ml", []),
    ("ml", ["m"]),
    ("ml", ["mlx"]),
    ("ml", ["ML"]),
    ("team-ab", ["team-?"]),
    ("team-c", ["team-[ab]"]),
    ("team-b", ["team-[!a-c]"]),
    ("c-1", ["{a,b}-?"]),
    ("kube-system", ["*", "!kube-*"]),
    ("kube-system", ["!kube-*", "*"]),
    ("kube-system", ["kube-system", "!kube-{public,system}"]),
    ("team-1", ["/^team-[0-9]+$/"]),
    ("team-a", ["team-[a"]),
    ("team-a", ["team-{a"]),
]


@pytest.mark.parametrize(("namespace", "patterns"), ALLOWED)
def test_an_allowed_namespace_is_permitted(namespace: str, patterns: list[str]) -> None:
    assert permitted(namespace, patterns)


@pytest.mark.parametrize(("namespace", "patterns"), REFUSED)
def test_a_denied_or_unknown_namespace_is_refused(namespace: str, patterns: list[str]) -> None:
    assert not permitted(namespace, patterns)


@pytest.mark.timeout(10)
def test_a_pattern_with_many_stars_and_braces_takes_no_long_time() -> None:
    assert not permitted("a" * 63, ["*a" * 120 + "b", "{a,aa}*" * 30 + "b"])
