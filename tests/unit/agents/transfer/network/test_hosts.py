"""Hosts to which a server may redirect a transfer."""

import pytest

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.network.hosts import Hosts, is_host

OWN = Hosts(("https", "git.example.com", 443), ("lfs.example.com", "store.example.com:9000"))


@pytest.mark.parametrize(
    "url",
    [
        "https://git.example.com/x",
        "https://GIT.example.com./x",
        "https://lfs.example.com/x",
        "https://store.example.com:9000/x",
        "https://transfer.xethub.hf.co/x",
        "https://us-east-1.aws.cdn.hf.co/x",
        "https://github-cloud.githubusercontent.com/x",
    ],
)
def test_hosts_that_are_allowed(url: str) -> None:
    OWN.check(url, "An answer")


@pytest.mark.parametrize(
    "url",
    [
        "http://git.example.com/x",
        "https://git.example.com:8443/x",
        "https://git.example.com@evil.example.com/x",
        "https://evil.example.com/git.example.com",
        "https://git.example.com.evil.example.com/x",
        "https://xgithub.com/x",
        "https://evil.hf.co/x",
        "https://store.example.com/x",
        "http://store.example.com:9000/x",
        "https://huggingface.co:8443/x",
        "http://169.254.169.254/latest",
        "https://[::1]/x",
        "file:///etc/passwd",
        "//lfs.example.com/x",
        "https://lfs.example.com\\@evil.example.com/x",
        "https:///x",
        "https://lfs.example.com:99999/x",
        "https://lfs.example.com/a b",
    ],
)
def test_hosts_that_are_refused(url: str) -> None:
    with pytest.raises(AttemptError) as found:
        OWN.check(url, "An answer")
    assert (found.value.code, found.value.reason) == (5, "OtherHost")


def test_services_that_everybody_knows_can_be_left_out() -> None:
    with pytest.raises(AttemptError, match=r"`hosts`"):
        OWN.check("https://github.com/x", "`.lfsconfig`", known=False)


def test_plain_http_may_lead_to_https_of_the_same_host() -> None:
    plain = Hosts(("http", "git.example.com", 80))
    assert plain.is_own(plain.check("https://git.example.com/x", "An answer"))
    assert plain.is_named("git.example.com", 443)
    assert not plain.is_named("github.com", 443)


@pytest.mark.parametrize(("text", "good"), [("a.b", True), ("a:1", True), ("A.b", False), ("a/b", False), ("", False)])
def test_what_a_spec_may_list(text: str, good: bool) -> None:  # noqa: FBT001
    assert is_host(text) is good
