"""The files of a ServiceAccount in a pod."""

import ssl
from pathlib import Path


def account_directory(folder: Path, *, token: str, authorities: Path | None = None) -> Path:
    """Writes `token` and `ca.crt`; without authorities those that this machine trusts."""
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(token, encoding="utf-8")
    (folder / "ca.crt").write_bytes((authorities or _some_authorities()).read_bytes())
    return folder


def _some_authorities() -> Path:
    paths = ssl.get_default_verify_paths()
    return Path(paths.cafile or paths.openssl_cafile)
