"""What each test of `stowplan pin` begins with."""

from pathlib import Path

import pytest
from huggingface_hub import close_session

from tests.pins.specs import PLATFORM

_OF_USERS = (
    *("DOCKER_CONFIG", "REGISTRY_AUTH_FILE", "HF_TOKEN", "HF_ENDPOINT", "NETRC"),
    *("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home and an empty repository, which is the current folder."""
    for name in _OF_USERS:
        monkeypatch.delenv(name, raising=False)
    # It would keep the proxies of the test before.
    close_session()
    own = tmp_path / "home"
    (own / "repo/specs").mkdir(parents=True)
    (own / "repo/stowplan.yaml").write_text(PLATFORM)
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(own / "runtime"))
    monkeypatch.chdir(own / "repo")
    return own
