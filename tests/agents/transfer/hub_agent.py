"""The transfer agent with a repository of a Hub."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.agents.ended import Ended
from tests.agents.transfer.agent import Transfer
from tests.agents.transfer.hub_base import TOKEN, Hub
from tests.agents.transfer.hub_store import Repository


@dataclass(frozen=True)
class HubCube(Transfer):
    """A folder that stands for the claim, and a repository."""

    folder: Path
    hub: Hub
    repository: Repository
    endpoint: str = ""
    """Of a proxy, if not of the Hub itself."""
    options: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def variables(self) -> dict[str, str]:
        return {
            "HF_ENDPOINT": f"{self.endpoint or self.hub.url}/\n",
            "REPO": f"{self.repository.name}\n",
            "TOKEN": f"{TOKEN}\n",
            "TMPDIR": str(self.folder),
            **self.environment,
        }

    def remote(self, **fields: Any) -> dict[str, Any]:
        """The side of the Hub; a value None takes a field away."""
        given = {
            "type": "huggingface",
            "repoEnv": "REPO",
            "repoType": self.repository.kind,
            "tokenEnv": "TOKEN",
            # Of the stores behind it, which are servers of their own.
            "hosts": [urlsplit(each).netloc for each in (self.hub.storage, self.hub.xet and self.hub.xet.url) if each],
            **fields,
        }
        return {name: value for name, value in given.items() if value is not None}

    def with_options(self, *, environment: dict[str, str] | None = None, **options: Any) -> "HubCube":
        return HubCube(
            self.folder,
            self.hub,
            self.repository,
            self.endpoint,
            {**self.options, **options},
            {**self.environment, **(environment or {})},
        )

    def download(self, run: str | None = None, path: str = "data", **fields: Any) -> Ended:
        """Runs the agent from the repository to the claim."""
        return self.run(self.remote(**fields), self.local(path), run)

    def upload(self, run: str | None = None, path: str = "data", **fields: Any) -> Ended:
        """Runs the agent from the claim to the repository."""
        return self.run(self.local(path), self.remote(**fields), run)

    def write(self, files: dict[str, bytes]) -> None:
        """Files in the claim."""
        for key, data in files.items():
            (self.data / key).parent.mkdir(parents=True, exist_ok=True)
            (self.data / key).write_bytes(data)
