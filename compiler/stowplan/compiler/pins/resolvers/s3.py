"""Listings of prefixes of S3 stores, by the code with which agents list them.

The user's own credentials are used where they may go.
"""

import configparser
import os
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import DEFAULT_REGION, Bucket
from stowplan.agents.transfer.remotes.s3.protocol.signing import S3Credentials
from stowplan.agents.transfer.remotes.s3.revision import listed
from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.trust import CredentialKind, Trust
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.lock import ListingPin

_HINT = "Check the address, and that AWS_PROFILE, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, gives you access."
_KEYS = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
_KEYS_OF_AWS = CredentialKind("AWS credentials", "AWS_ENDPOINT_URL")
_AWS = re.compile(
    r"([\w.-]+\.)?s3(-fips|-accelerate)?(\.dualstack)?([.-][a-z]+(-[a-z]+)+-[0-9]+)?\.amazonaws\.(com|com\.cn|eu)"
)


def resolve(reference: FloatingReference, trust: Trust) -> ListingPin:
    """Return the hash of the listing of a prefix, as an agent computes it when it copies the objects.

    The user's credentials are sent if `trust` allows it. Raises `UnresolvedError`, also if there is no object.
    """
    name, _, prefix = reference.name.partition("/")
    bucket = Bucket(
        name,
        reference.address or None,
        reference.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION,
        path_style=reference.path_style,
        credentials=None,
    )
    refusal = trust.refusal(_KEYS_OF_AWS, f"{bucket.scheme}://{bucket.host}", _own(bucket))
    own = None if refusal else credentials()
    bucket = replace(bucket, credentials=own)
    secrets = [each for each in (own.secret_access_key, own.session_token) if each] if own else []
    try:
        found = listed(bucket, prefix, Stop(), Log(stream=StringIO()), Redactor(secrets))
    except AttemptError as error:
        message = f"The objects at {reference.key} cannot be listed: {str(error).rstrip('.')}."
        raise UnresolvedError(message, (error.code == ExitCode.AUTH and refusal) or _HINT) from None
    if not found.objects:
        raise UnresolvedError(f"There is no object at {reference.key}.", "Check the bucket and the prefix.")
    return ListingPin(listing=found.revision, objects=found.objects, size=found.size)


def _own(bucket: Bucket) -> tuple[str, ...]:
    """Return the server of a bucket if it is one of AWS, and that which the user's variables name.

    https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
    """
    named = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or ""
    return named, f"{bucket.scheme}://{bucket.host}" if is_aws(bucket.host) else ""


def is_aws(host: str) -> bool:
    """Whether a host is S3 itself. Other names below the domain of AWS are those of its customers' machines.

    https://docs.aws.amazon.com/general/latest/gr/s3.html
    """
    return bool(_AWS.fullmatch(host))


def credentials() -> S3Credentials | None:
    """Return the keys of the environment, else those of the profile in the file of the AWS tools; None for neither.

    https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-files.html
    """
    given = [os.environ.get(key.upper()) for key in _KEYS]
    if not (given[0] and given[1]):
        file = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or Path.home() / ".aws" / "credentials")
        profile, parser = os.environ.get("AWS_PROFILE") or "default", configparser.ConfigParser(interpolation=None)
        try:
            parser.read(file)
        except (configparser.Error, UnicodeDecodeError):
            return None
        given = [parser.get(profile, key, fallback=None) for key in _KEYS]
    return S3Credentials(given[0], given[1], given[2]) if given[0] and given[1] else None
