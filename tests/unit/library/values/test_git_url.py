"""URLs of Git repositories: the retained parts, and refused URLs."""

import pytest

from stowplan.library.values.git_url import GitUrl, Unusable, split
from stowplan.schema.remotes.git import repository_directory

CLEAN = "https://git.example.com/ml/train.git"
SECRET = "abcdefghijklmnopqrstu"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (CLEAN, GitUrl(CLEAN)),
        ("https://$(TOKEN)@git.example.com/ml/train.git", GitUrl(CLEAN, token_env="TOKEN")),
        ("https://$(TOKEN):@git.example.com/ml/train.git", GitUrl(CLEAN, token_env="TOKEN")),
        ("https://$(TOKEN):x-oauth-basic@git.example.com/ml/train.git", GitUrl(CLEAN, token_env="TOKEN")),
        ("https://robot:$(TOKEN)@git.example.com/ml/train.git", GitUrl(CLEAN, username="robot", token_env="TOKEN")),
        ("https://:$(TOKEN)@git.example.com/ml/train.git", GitUrl(CLEAN, token_env="TOKEN")),
        ("https://$(WHO):$(T)@git.example.com/ml/train.git", GitUrl(CLEAN, username_env="WHO", token_env="T")),
        ("https://robot@git.example.com/ml/train.git", GitUrl(CLEAN, username="robot")),
        ("http://gitea:3000/ml/train", GitUrl("http://gitea:3000/ml/train")),
        ("https://[::1]:8443/ml/train", GitUrl("https://[::1]:8443/ml/train")),
        ("https://$(HOST)/ml/train.git", GitUrl("https://$(HOST)/ml/train.git")),
        ("https://git.example.com/ml/a@b.git", GitUrl("https://git.example.com/ml/a@b.git")),
        ("$(BASE)/ml/train.git", GitUrl("$(BASE)/ml/train.git")),
    ],
)
def test_userinfo_leaves_the_url(url: str, expected: GitUrl) -> None:
    assert split(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        f"https://robot:{SECRET}@git.example.com/ml/train.git",
        f"https://{SECRET}@git.example.com/ml/train.git",
        f"https://x{SECRET}:$(TOKEN)x@git.example.com/ml/train.git",
        f"https://$(WHO):{SECRET}@git.example.com/ml/train.git",
        f"https://robot:{SECRET}$(TOKEN)@git.example.com/ml/train.git",
        f"https://robot:{SECRET}/x@git.example.com/ml/train.git",
        f"https://a@b:{SECRET}@git.example.com/ml/train.git",
    ],
)
def test_secrets_are_refused_and_never_shown(url: str) -> None:
    found = split(url)
    assert isinstance(found, Unusable)
    assert found.secret
    assert SECRET not in found.message + found.hint


@pytest.mark.parametrize(
    "url",
    [
        "git@git.example.com:ml/train.git",
        f"ssh://{SECRET}@git.example.com/ml/train.git",
        "file:///data/train.git",
        "ext::sh -c true",
        "/data/train.git",
        "git.example.com/ml/train",
        "https:///ml/train.git",
        "https://git.example.com",
        "https://git.example.com/ml/train.git\n",
        "https://git.example.com/ml/two words.git",
    ],
)
def test_urls_that_the_agent_cannot_use_are_refused(url: str) -> None:
    found = split(url)
    assert isinstance(found, Unusable)
    assert not found.secret
    assert SECRET not in found.message


@pytest.mark.parametrize(
    "url",
    [
        CLEAN,
        "https://git.example.com/ml/train",
        "https://git.example.com/ml/train.git/",
        f"{CLEAN}?a=b/c",
        f"{CLEAN}#a/b",
    ],
)
def test_the_last_segment_of_the_url_names_the_directory(url: str) -> None:
    assert repository_directory(url) == "train"
