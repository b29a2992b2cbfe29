"""Addresses of repositories, links in repositories, and the hosts that may get the password."""

import pytest

from stowplan.agents.attempt.redaction import in_url
from stowplan.agents.transfer.network.hosts import Hosts
from stowplan.agents.transfer.remotes.git.address import Address, GitCredentials, split
from stowplan.agents.transfer.remotes.git.commit.contents import leads_out

ADDRESS = Address("https://git.example.com:8443/ml/train.git")


def test_credentials_are_taken_out() -> None:
    address, inside = split("https://robot:p%40ss@git.example.com:8443/ml/train.git")
    assert (address, inside) == (ADDRESS, GitCredentials("robot", "p@ss"))
    assert (address.directory, address.lfs) == ("train", f"{ADDRESS.url}/info/lfs")
    assert split("https://git.example.com/ml/train/")[0].lfs == "https://git.example.com/ml/train.git/info/lfs"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://robot:p%40ss@host/x", ["p%40ss", "p@ss"]),
        ("https://token@host/x", ["token", "token"]),
        ("https://token:x-oauth-basic@host/x", ["token", "token"]),
        ("http://user:pa/ss@host/x\n", ["pa/ss", "pa/ss"]),
        ("https://host/x", []),
        ("", []),
    ],
)
def test_secrets_of_a_url(url: str, found: list[str]) -> None:
    assert in_url(url) == found


@pytest.mark.parametrize(
    ("url", "below"),
    [
        ("../other.git", "https://git.example.com:8443/ml/other.git"),
        ("./../../x/y.git", "https://git.example.com:8443/x/y.git"),
        ("https://u:p@elsewhere/x.git", "https://elsewhere/x.git"),
        ("git@host:x.git", None),
        ("ssh://host/x.git", None),
        ("file:///etc/x.git", None),
        ("-u./x", None),
        ("", None),
    ],
)
def test_address_of_a_submodule(url: str, below: str | None) -> None:
    assert ADDRESS.below(url) == (Address(below) if below else None)


def test_hosts_that_get_the_password() -> None:
    own = Hosts(ADDRESS.host)
    assert own.is_own(("https", "git.example.com", 8443))
    for other in (("http", "git.example.com", 8443), ("https", "git.example.com", 443), ("https", "evil", 8443)):
        assert not own.is_own(other)
    plain = Hosts(Address("http://Git.example.com/x.git").host)
    assert plain.is_own(("http", "git.example.com", 80))
    assert plain.is_own(("https", "git.example.com", 443)), "the same host, by a better way"
    assert not plain.is_own(("https", "git.example.com", 8443))


def test_same_repository() -> None:
    assert ADDRESS.is_same("https://u:p@GIT.example.com:8443/ml/train/")
    assert not ADDRESS.is_same("https://git.example.com/ml/train.git")
    assert not ADDRESS.is_same("nonsense")


@pytest.mark.parametrize(
    ("links", "out"),
    [
        ({"a": "b"}, False),
        ({"a": "deep/../b"}, False),
        ({"a": ".."}, True),
        ({"a": "/b"}, True),
        ({"a": "a"}, False),
        ({"a": "b/..", "b": "c"}, False),
        ({"a": "b/../..", "b": "c"}, True),
        ({"d/a": "up/../x", "d/up": ".."}, True),
        ({"d/a": "../.GIT/config"}, True),
    ],
)
def test_links_that_lead_out(links: dict[str, str], *, out: bool) -> None:
    assert leads_out(next(iter(links)), links) == out
