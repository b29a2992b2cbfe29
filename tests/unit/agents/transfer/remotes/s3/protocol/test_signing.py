"""Signatures against the examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html."""

from datetime import UTC, datetime

import pytest

from stowplan.agents.transfer.remotes.s3.protocol.signing import (
    S3Credentials,
    Unsigned,
    encoded,
    query_string,
    signed_headers,
)

CREDENTIALS = S3Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")


@pytest.mark.parametrize(
    ("path", "query", "headers", "signature"),
    [
        (
            "/test.txt",
            [],
            {"Range": "bytes=0-9"},
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "/",
            [("prefix", "J"), ("max-keys", "2")],
            {},
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)
def test_examples_of_aws(path: str, query: list[tuple[str, str]], headers: dict[str, str], signature: str) -> None:
    request = Unsigned("GET", "examplebucket.s3.amazonaws.com", path, query_string(query), headers)
    signed = signed_headers(request, CREDENTIALS, "us-east-1", datetime(2013, 5, 24, tzinfo=UTC))
    assert signed["authorization"].endswith(f"Signature={signature}")


def test_session_token_is_signed() -> None:
    credentials = S3Credentials("a", "b", "token")
    signed = signed_headers(Unsigned("GET", "h", "/", "", {}), credentials, "r", datetime(2013, 5, 24, tzinfo=UTC))
    assert signed["x-amz-security-token"] == "token"
    assert "x-amz-security-token," in signed["authorization"] + ","


def test_encoding() -> None:
    assert encoded("a b+c/é~*", "/") == "a%20b%2Bc/%C3%A9~%2A"


def test_credentials_do_not_show() -> None:
    assert "wJalr" not in repr(S3Credentials("AKIA", "wJalr", "tok"))
