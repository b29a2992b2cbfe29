"""Commits of branches and tags on a Hugging Face Hub, with the user's own token where it may go."""

import os
from typing import Any

from httpx2 import HTTPError
from huggingface_hub import HfApi
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.trust import CredentialKind, Trust
from stowplan.library.dialects.reading.floating import HUB, FloatingReference
from stowplan.schema.lock import HubPin

_SECONDS = 60
_KINDS = ("model", "dataset", "space")
_TOKENS = CredentialKind("Hugging Face tokens", "HF_ENDPOINT")


def resolve(reference: FloatingReference, trust: Trust) -> HubPin:
    """Return the commit that a branch or tag of a repository has now. Raises `UnresolvedError`.

    The token of `hf auth login` is sent if `trust` allows it.
    """
    kind, _, repository = reference.name.partition("/")
    revision = None if reference.revision in ("", "HEAD") else reference.revision
    shown = f"{repository}@{revision}" if revision else repository
    # Without an address of its own, the Hub is that of the variable HF_ENDPOINT, such as a mirror.
    own = os.environ.get("HF_ENDPOINT") or HUB
    url = (own if reference.address == HUB else reference.address).rstrip("/")
    refusal = trust.refusal(_TOKENS, url, (HUB, own))
    # With `None` the library looks for a token, and may renew it.
    hub: Any = HfApi(endpoint=url, token=False if refusal else None)
    try:
        if kind.removesuffix("s") not in _KINDS:
            raise UnresolvedError(f"{reference.name} is no repository of a Hub.", "Check the spec.")
        found = hub.repo_info(repository, repo_type=kind.removesuffix("s"), revision=revision, timeout=_SECONDS)
    except GatedRepoError:
        message = f"The Hub does not show {shown} to this account."
        hint = refusal or "Ask for access to it on the Hub, and log in by `hf auth login`."
        raise UnresolvedError(message, hint) from None
    except RevisionNotFoundError:
        raise UnresolvedError(f"{repository} has no branch or tag {revision}.", "Check its name.") from None
    except RepositoryNotFoundError:
        message = f"The Hub has no repository {repository}, or does not show it to this account."
        hint = refusal or "Check its name and type, or log in by `hf auth login`."
        raise UnresolvedError(message, hint) from None
    except HFValidationError:
        raise UnresolvedError(f"{repository} is no name of a repository.", "Write `owner/name`.") from None
    except (HfHubHTTPError, HTTPError, OSError) as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        reason = f"it answers with status {status}" if status else "it does not answer"
        hint = (refusal or "Log in by `hf auth login`.") if status in (401, 403) else "Try again later."
        raise UnresolvedError(f"The Hub cannot be asked for {shown}: {reason}.", hint) from None
    modified = getattr(found, "last_modified", None)
    return HubPin(commit=found.sha, date=modified.strftime("%Y-%m-%dT%H:%M:%SZ") if modified else None)
