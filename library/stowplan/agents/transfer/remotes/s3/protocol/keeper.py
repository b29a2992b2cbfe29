"""Checksums that uploads send, so that the store keeps them with the objects.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity.html
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3.protocol.answers import Response
from stowplan.agents.transfer.remotes.s3.protocol.refusal import REFUSED_CODES
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import Body, Query, RestClient
from stowplan.schema.agents.exit_codes import ExitCode

ALGORITHM = "crc64nvme"
"""The algorithm that S3 uses by itself: the one whose checksum of an upload in parts is that of all bytes."""

HEADER = f"x-amz-checksum-{ALGORITHM}"
FULL_OBJECT = {"x-amz-checksum-type": "FULL_OBJECT"}


def text_of(checksum: bytes) -> str:
    """Return a checksum in Base64, as headers and documents have it."""
    return b64encode(checksum).decode()


@dataclass
class Keeper:
    """Sends requests with headers of checksums, and without them once the store has refused them."""

    client: RestClient
    log: Log
    sends: bool = True
    """False once the store has refused such headers."""

    def call(
        self, method: str, key: str, query: Query = (), body: bytes | Body = b"", *, headers: Mapping[str, str]
    ) -> Response:
        """Send a request as `RestClient.call` does, with a checksum's `headers`, or without if those are refused."""
        if not self.sends:
            return self.client.call(method, key, query, body)
        response = self.client.call(method, key, query, body, headers=headers, accepted=(400, 501))
        if response.is_success:
            return response
        refused = response.status_code == 501 or self.client.said(response).partition(" ")[0] in REFUSED_CODES
        if not refused:
            # An ordinary failure, with its own retries.
            return self.client.call(method, key, query, body, headers=headers)
        said, response = self.client.said(response), self.client.call(method, key, query, body)
        self.sends = False
        self.log.info("The store refuses to keep checksums: objects are sent without", error=said)
        return response


def check_kept(key: str, sent: bytes, kept: str) -> None:
    """Raise AttemptError (11) if an answer says that the store has another checksum of the object than was sent.

    `sent` is not encoded. `kept` is in Base64, as the answer has it; empty if it does not say.
    """
    if kept and kept != text_of(sent):
        message = f"{key}: its bytes have the {ALGORITHM} {text_of(sent)}, but the server says {kept[:40]!r}"
        raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)
