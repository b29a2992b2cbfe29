"""Which servers get credentials."""

import pytest

from stowplan.compiler.pins.resolvers.s3 import is_aws
from stowplan.compiler.pins.trust import CredentialKind, Trust, trusting

KIND = CredentialKind("Tokens", "OWN")
OWN = ("https://hub.example.com", "not an address", "")


@pytest.mark.parametrize(
    "url", ["https://hub.example.com", "https://HUB.example.com:443/x", "https://other.example.com"]
)
def test_own_and_listed_servers(url: str) -> None:
    assert trusting(["other.example.com:443"]).refusal(KIND, url, OWN) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://hub.example.com:8443",
        "https://hub.example.com.evil.example",
        "https://hub.example.com@evil.example",
        "https://evil.example\\.hub.example.com",
        "https://hub.example.com\t.evil.example",
        "http://hub.example.com",
        "ftp://hub.example.com",
        "http://127.0.0.1:9000",
        "",
    ],
)
def test_all_others_are_refused(url: str) -> None:
    assert "Tokens are not sent to" in Trust().refusal(KIND, url, OWN)


def test_a_host_is_listed_with_its_port() -> None:
    assert Trust().refusal(KIND, "https://a.example:8443", OWN) == (
        "Tokens are not sent to a.example:8443, which only a spec names:"
        " `--trust-host a.example:8443` or the variable OWN allows it."
    )
    assert trusting(["a.example"]).refusal(KIND, "https://a.example:8443", OWN)
    assert not trusting(["A.example:8443"]).refusal(KIND, "https://a.example:8443", OWN)


def test_what_could_mean_something_in_a_shell_is_not_proposed() -> None:
    assert "--trust-host" not in Trust().refusal(KIND, "https://$(id).example", OWN)


def test_plain_http_is_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    own = ("http://a.example", "http://localhost:9", "http://127.8.0.1:9", "http://[::1]:9")
    assert "use https" in Trust().refusal(KIND, own[0], own)
    assert not any(Trust().refusal(KIND, each, own) for each in own[1:])
    monkeypatch.setenv("all_proxy", "http://proxy.example:3128")
    assert all("NO_PROXY" in Trust().refusal(KIND, each, own) for each in own[1:])
    monkeypatch.setenv("no_proxy", "127.8.0.1")
    assert not Trust().refusal(KIND, own[2], own)


@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("s3.amazonaws.com", True),
        ("my.bucket.s3.eu-west-1.amazonaws.com", True),
        ("s3-us-west-2.amazonaws.com", True),
        ("s3.dualstack.us-gov-west-1.amazonaws.com", True),
        ("s3-fips.us-east-1.amazonaws.com", True),
        ("b.s3-accelerate.dualstack.amazonaws.com", True),
        ("s3.cn-north-1.amazonaws.com.cn", True),
        ("s3.eusc-de-east-1.amazonaws.eu", True),
        ("ec2-1-2-3-4.us-east-1.compute.amazonaws.com", False),
        ("s3.us-east-1.elb.amazonaws.com", False),
        ("a-1.s3-object-lambda.us-east-1.amazonaws.com", False),
        ("s3.evil.example", False),
        ("s3.us-east-1.amazonaws.com.evil.example", False),
        ("evils3.us-east-1.amazonaws.com", False),
        ("s3.us-east-1.amazonaws.com:8443", False),
    ],
)
def test_hosts_of_s3_itself(host: str, wanted: bool) -> None:  # noqa: FBT001
    assert is_aws(host) is wanted
