"""Messages of a server that refuses a request."""

import pytest

from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.transfer.remotes.s3.protocol.answers import Response
from stowplan.agents.transfer.remotes.s3.protocol.refusal import SHOWN, refusal

SECRET = "tk/CANARY 0123456789+"


@pytest.mark.parametrize("count", range(SHOWN - 40, SHOWN + 5, 3))
def test_cut_error_page_contains_no_part_of_a_secret(count: int) -> None:
    """A proxy may answer with a page that quotes the request. The redaction would not recognise half of a secret."""
    said = refusal(Response(502, {}, b"x" * count + SECRET.encode()), "GET b/k", Redactor([SECRET]))
    assert "x" * 150 in str(said)
    assert not any(SECRET[at : at + 4] in str(said) for at in range(len(SECRET) - 3))


def test_an_error_of_s3_is_named() -> None:
    page = b"<Error><Code>AccessDenied</Code><Message>No.</Message></Error>"
    assert str(refusal(Response(403, {}, page), "GET b/k", Redactor(()))) == "GET b/k: 403 AccessDenied No."
