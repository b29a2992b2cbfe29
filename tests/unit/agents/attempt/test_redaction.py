"""Redaction of secrets in the forms used by servers and libraries."""

import io
import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.agents.attempt.redaction import MASK, RedactedStream, Redactor

SECRET = 'p/w+d="é&~;key'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="").lower(),
        json.dumps(SECRET)[1:-1],
        json.dumps({"a": SECRET}),
        b64encode(SECRET.encode()).decode(),
    ],
)
def test_forms(form: str) -> None:
    hidden = Redactor([SECRET])(f"before {form} after")
    assert MASK in hidden
    assert hidden.startswith("before ")
    assert hidden.endswith(" after")
    assert form not in hidden


@given(st.text(min_size=8, max_size=40), st.binary(max_size=7), st.binary(max_size=7))
def test_base64_of_a_string_that_contains_the_secret(secret: str, before: bytes, after: bytes) -> None:
    """All characters are redacted except those that also encode a neighbour."""
    for encode in (b64encode, urlsafe_b64encode):
        whole = encode(before + secret.encode() + after).decode()
        hidden = Redactor([secret])(whole)
        assert MASK in hidden
        kept = len(hidden) - len(MASK)
        assert kept <= (len(before) + len(after)) * 4 / 3 + 8


def test_longer_secret_is_redacted_before_a_secret_inside_it() -> None:
    assert Redactor(["abcd", "abcdefgh"])("x abcdefgh") == f"x {MASK}"


def test_short_or_missing_secrets_redact_nothing() -> None:
    assert Redactor(["a", ""])("a cat") == "a cat"
    assert Redactor([])("a cat") == "a cat"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("GET https://me:p4ss@host/a failed", f"GET https://{MASK}@host/a failed"),
        ("https://me:p4@ss@host/a", f"https://{MASK}@host/a"),
        ("https://gh_token@host/a", f"https://{MASK}@host/a"),
        ("redis://:p4ss@10.0.0.1:6379/1", f"redis://{MASK}@10.0.0.1:6379/1"),
        (
            "'https://s3/b?X-Amz-Date=1&X-Amz-Credential=AK%2F1&X-Amz-Signature=abc'",
            f"'https://s3/b?X-Amz-Date=1&X-Amz-Credential={MASK}&X-Amz-Signature={MASK}'",
        ),
        ("https://h/a?token=abc: 403", f"https://h/a?token={MASK} 403"),
        ("https://h/a?x=1&private_token=abc def", f"https://h/a?x=1&private_token={MASK} def"),
        ("https://h/a?Expires=1&Signature=a~b_&Key-Pair-Id=K", f"https://h/a?Expires=1&Signature={MASK}&Key-Pair-Id=K"),
        ('{"href": "https://h/a?sv=1&sig=a%2Bb"}', f'{{"href": "https://h/a?sv=1&sig={MASK}"}}'),
        ("https://host/a@b/c?page=2 and me@example.com", "https://host/a@b/c?page=2 and me@example.com"),
        ("the option `token`; token=x", "the option `token`; token=x"),
    ],
)
def test_credentials_in_urls_are_redacted(text: str, kept: str) -> None:
    assert Redactor([])(text) == kept
    assert Redactor(["hunter22"])(f"{text} hunter22") == f"{kept} {MASK}"


def test_stream() -> None:
    inner = io.StringIO()
    stream = RedactedStream(inner, Redactor(["hunter22"]))
    stream.write("key hunter22\n")
    stream.flush()
    assert inner.getvalue() == f"key {MASK}\n"
