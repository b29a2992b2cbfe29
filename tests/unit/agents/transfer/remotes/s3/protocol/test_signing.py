"""Signatures against the examples of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html."""

from datetime import UTC, datetime

import pytest

from stowplan.agents.transfer.remotes.s3.protocol.signing import (
    EMPTY_SHA256,
    S3Credentials,
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
    signed = signed_headers(
        "GET",
        host="examplebucket.s3.amazonaws.com",
        path=path,
        query=query_string(query),
        sha256=EMPTY_SHA256,
        region="us-east-1",
        credentials=CREDENTIALS,
        now=datetime(2013, 5, 24, tzinfo=UTC),
        headers=headers,
    )
    assert signed["authorization"].endswith(f"Signature={signature}")


def test_session_token_is_signed() -> None:
    signed = signed_headers(
        "GET",
        host="h",
        path="/",
        query="",
        sha256=EMPTY_SHA256,
        region="r",
        credentials=S3Credentials("a", "b", "token"),
        now=datetime(2013, 5, 24, tzinfo=UTC),
        headers={},
    )
    assert signed["x-amz-security-token"] == "token"
    assert "x-amz-security-token," in signed["authorization"] + ","


def test_encoding() -> None:
    assert encoded("a b+c/é~*", "/") == "a%20b%2Bc/%C3%A9~%2A"


def test_credentials_do_not_show() -> None:
    assert "wJalr" not in repr(S3Credentials("AKIA", "wJalr", "tok"))
