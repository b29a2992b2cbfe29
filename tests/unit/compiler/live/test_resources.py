"""Where the token of a kubeconfig goes."""

from pathlib import Path

import pytest

from stowplan.compiler.live.resources import ClusterClient, ClusterError, KubeconfigError
from stowplan.schema.meta import SpecId
from tests.recorder import recording

TOKEN = "CANARY-token"


def kubeconfig(folder: Path, server: str, user: str = f"{{token: {TOKEN}}}") -> str:
    path = folder / "kubeconfig"
    path.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
        "contexts: [{name: here, context: {cluster: c, user: u}}]\n"
        f'clusters: [{{name: c, cluster: {{server: "{server}"}}}}]\n'
        f"users: [{{name: u, user: {user}}}]\n"
    )
    return str(path)


def test_a_redirect_takes_no_token_along(tmp_path: Path) -> None:
    with recording() as asked, recording() as other:
        asked.location = other.url
        cluster = ClusterClient.connect(None, kubeconfig(tmp_path, asked.url))
        with pytest.raises(ClusterError):
            cluster.custom_resources([SpecId("Dataset", "ml", "a")])
        assert (asked.heard(TOKEN), other.heard(TOKEN)) == ([TOKEN], [])


@pytest.mark.parametrize("user", [f"{{token: {TOKEN}}}", f"{{username: me, password: {TOKEN}}}"])
def test_no_token_is_sent_by_plain_http(tmp_path: Path, user: str) -> None:
    with pytest.raises(KubeconfigError, match="by plain http") as raised:
        ClusterClient.connect(None, kubeconfig(tmp_path, "http://api.example.com:8080", user))
    assert TOKEN not in str(raised.value)


def test_a_server_that_wants_no_token_may_be_asked_by_plain_http(tmp_path: Path) -> None:
    assert ClusterClient.connect(None, kubeconfig(tmp_path, "http://api.example.com:8080", "{}"))
