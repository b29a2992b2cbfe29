"""What a repository is at one commit, by the Hub's own API."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx2
from huggingface_hub.errors import RemoteEntryNotFoundError
from huggingface_hub.utils._http import hf_raise_for_status

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.attempts import Attempts
from stowplan.agents.transfer.huggingface.remote_file import RemoteFile, of_tree
from stowplan.agents.transfer.huggingface.settings import HuggingFaceSettings
from stowplan.schema.exit_codes import ExitCode

MAIN = "main"


class Hub:
    """One repository. AttemptError or StoppedError ends a call."""

    def __init__(self, told: HuggingFaceSettings, http: httpx2.Client, attempts: Attempts) -> None:
        self._told, self.http, self._attempts = told, http, attempts
        self._api = f"{told.endpoint}/api/{told.remote.repo_type}s/{told.repo}"

    @property
    def headers(self) -> dict[str, str]:
        """For requests to the Hub itself."""
        token = {"authorization": f"Bearer {self._told.token}"} if self._told.token else {}
        return {"user-agent": "stowplan", **token}

    def commit(self, revision: str | None) -> str:
        """The commit that a branch, tag or commit stands for now; the default branch for None."""
        place = f"{self._api}/revision/{quote(revision, safe='')}" if revision else self._api
        found = self._call(place, f"revision {revision or MAIN}").json()
        commit = found.get("sha") if isinstance(found, dict) else None
        if not isinstance(commit, str):
            message = f"{self._told.address} has no commit: is there anything in it?"
            raise AttemptError(ExitCode.NOT_FOUND, "NoCommit", message)
        return commit

    def files(self, commit: str, folder: str = "") -> list[RemoteFile]:
        """All files below a folder, in ascending order of their paths. A folder that is not there has none."""
        place: str | None = f"{self._api}/tree/{quote(commit, safe='')}{'/' if folder else ''}{quote(folder)}"
        place = f"{place}?recursive=true&expand=false"
        found: list[RemoteFile] = []
        while place:
            response = self._call(place, "the list of files", accepted=("EntryNotFound",) if folder else ())
            if response.status_code == 404:
                return []
            found += [of_tree(each) for each in response.json() if each.get("type") == "file"]
            place = response.links.get("next", {}).get("url")
        return sorted(found, key=lambda each: each.key)

    def url(self, commit: str, key: str) -> str:
        """Of the content of a file."""
        told = self._told
        return f"{told.endpoint}/{told.prefix}{told.repo}/resolve/{quote(commit, safe='')}/{quote(key)}"

    def xet_refresh_url(self, right: str, revision: str) -> str:
        """Where a short-lived token for the Xet store comes from."""
        return f"{self._api}/xet-{right}-token/{quote(revision, safe='')}"

    def xet_connection(self, right: str, revision: str) -> dict[str, str] | None:
        """Headers of the answer with the address of the Xet store; None on a Hub that has none."""
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
