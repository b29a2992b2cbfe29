"""Client for one repository in the Hub's API: commits, lists of files, and URLs."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urljoin

import httpx2
from huggingface_hub.errors import RemoteEntryNotFoundError
from huggingface_hub.utils._http import hf_raise_for_status

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile, of_tree
from stowplan.agents.transfer.remotes.huggingface.hub.settings import HuggingFaceSettings
from stowplan.schema.agents.exit_codes import ExitCode

MAIN = "main"
"""Name of the default branch of every repository on a Hub."""

ENTRY_BYTES = 800
"""Estimated memory in bytes of a listed file, without the characters of its path."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class Hub:
    """Client for one repository. Every method that sends a request may raise AttemptError or StoppedError."""

    def __init__(self, settings: HuggingFaceSettings, http: httpx2.Client, attempts: Attempts) -> None:
        self._settings, self.http, self._attempts = settings, http, attempts
        self._api = f"{settings.endpoint}/api/{settings.remote.repo_type}s/{settings.repo}"

    @property
    def headers(self) -> dict[str, str]:
        """Headers for requests to the Hub, including the token. They must not be sent to other hosts."""
        token = {"authorization": f"Bearer {self._settings.token}"} if self._settings.token else {}
        return {"user-agent": "stowplan", **token}

    def commit(self, revision: str | None) -> str:
        """Ask for the full name of the present commit of a branch, tag or commit; None means the default branch."""
        place = f"{self._api}/revision/{quote(revision, safe='')}" if revision else self._api
        found = _json(self._call(place, f"revision {revision or MAIN}"))
        commit = found.get("sha") if isinstance(found, dict) else None
        if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
            message = f"{self._settings.address} has no commit: is there anything in it?"
            raise AttemptError(ExitCode.NOT_FOUND, "NoCommit", message)
        return commit

    def files(self, commit: str, folder: str = "") -> list[RemoteFile]:
        """Return all files below a folder (empty: the root), in ascending order of paths; none if it does not exist."""
        place: str | None = f"{self._api}/tree/{quote(commit, safe='')}{'/' if folder else ''}{quote(folder)}"
        place = f"{place}?recursive=true&expand=false"
        found: list[RemoteFile] = []
        seen: set[str] = set()
        memory = (self._settings.common.free_mib << 20) // 2
        while place:
            if place in seen:
                raise AttemptError(ExitCode.CONFLICT, "BadAnswer", "The list of files leads back to one of its pages")
            seen.add(place)
            response = self._call(place, "the list of files", accepted=("EntryNotFound",) if folder else ())
            if response.status_code == 404:
                return []
            page = _files(_json(response))
            found += page
            # An empty page costs as much as one file, so an endless listing of empty pages ends too.
            memory -= ENTRY_BYTES + len(place) + sum(len(each.key) + ENTRY_BYTES for each in page)
            if memory < 0:
                message = f"The list of files is too long for the memory of this pod, after {len(found)} files"
                raise AttemptError(ExitCode.CONFLICT, "TooLarge", message)
            place = self._next(response)
        return sorted(found, key=lambda each: each.key)

    def _next(self, response: httpx2.Response) -> str | None:
        """Return the URL of the next page; None after the last. Raises AttemptError (5) if it is on another host."""
        place = response.links.get("next", {}).get("url")
        if place is None:
            return None
        place = urljoin(str(response.url), place)
        if not self._settings.hosts.is_own(self._settings.hosts.check(place, "The list of files")):
            message = "The list of files goes on at another host than that of the Hub"
            raise AttemptError(ExitCode.CONFLICT, "OtherHost", message)
        return place

    def url(self, commit: str, key: str) -> str:
        """Return the URL of the content of a file at a commit."""
        settings = self._settings
        return f"{settings.endpoint}/{settings.prefix}{settings.repo}/resolve/{quote(commit, safe='')}/{quote(key)}"

    def xet_refresh_url(self, right: str, revision: str) -> str:
        """Return the URL that gives short-lived tokens for the Xet store. `right` is `read` or `write`."""
        return f"{self._api}/xet-{right}-token/{quote(revision, safe='')}"

    def xet_connection(self, right: str, revision: str) -> dict[str, str] | None:
        """Return the headers, in lower case, that give the address and a token of the Xet store (`x-xet-…`).

        Returns None if the Hub has no Xet store. `right` is `read` or `write`.
        """
        try:
            response = self._call(self.xet_refresh_url(right, revision), "access to the Xet store")
        except AttemptError as failure:
            if failure.code is ExitCode.NOT_FOUND:
                return None
            raise
        return dict(response.headers) if "x-xet-cas-url" in response.headers else None

    def _call(self, place: str, what: str, accepted: Sequence[str] = ()) -> httpx2.Response:
        def once() -> Any:
            response = self.http.get(place, headers=self.headers)
            try:
                hf_raise_for_status(response)
            except RemoteEntryNotFoundError:
                if "EntryNotFound" not in accepted:
                    raise
            return response

        return self._attempts.run(what, once)  # type: ignore[no-any-return]


def _json(response: httpx2.Response) -> Any:
    """Parse the JSON of an answer. Raises AttemptError (10) if it is invalid, since it may have been cut off."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", "What the Hub answers is no JSON") from None


def _files(page: Any) -> list[RemoteFile]:
    """Parse a page of the listing. Raises AttemptError (exit code 5) if it is invalid."""
    try:
        return [of_tree(each) for each in page if each.get("type") == "file"]
    except (AttributeError, LookupError, TypeError, ValueError):
        message = "What the Hub answers is no list of files with their sizes and digests"
        raise AttemptError(ExitCode.CONFLICT, "BadAnswer", message) from None
