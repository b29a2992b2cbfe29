"""Digests of images, from registries by the OCI distribution protocol, with the credentials of Docker and Podman.

https://github.com/opencontainers/distribution-spec/blob/main/spec.md
"""

import hashlib
import json
import logging
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from oras.auth import AuthenticationException, get_auth_backend

from stowplan.compiler.pins.resolvers.failure import UnresolvedError
from stowplan.compiler.pins.resolvers.registry_session import RegistrySession
from stowplan.compiler.pins.trust import is_loopback
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.schema.lock import ImagePin

_HUB, _HUB_SERVER, _HUB_LOGIN = "docker.io", "registry-1.docker.io", "https://index.docker.io/v1/"
"""Docker Hub, its server, and its name in the files of credentials."""
_TYPES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
_LARGEST = 4 << 20
"""Bytes of a manifest, as registries allow."""
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_MOST_PLATFORMS = 64


def resolve(reference: FloatingReference) -> ImagePin:
    """Return the digest of a tag: of an image for several platforms, that of its index. Raises `UnresolvedError`."""
    logging.getLogger("oras.logger").setLevel(logging.CRITICAL)
    host, name = server_and_name(reference.address)
    key, tag = reference.key, reference.revision
    try:
        answer = _asked(_login(host, name), f"{_scheme(host)}://{host}/v2/{name}/manifests/{tag}")
    except (AuthenticationException, ValueError):
        raise _refused(key, host) from None
    except requests.RequestException as error:
        message = f"The registry {host} does not answer: {type(error).__name__}."
        raise UnresolvedError(message, "Check the name of the image, and that the registry can be reached.") from None
    if answer.status_code in (401, 403):
        raise _refused(key, host)
    if answer.status_code == 404:
        raise UnresolvedError(f"The registry {host} has no image {key}.", "Check its name and tag.")
    if answer.status_code == 429:
        raise UnresolvedError(
            f"The registry {host} refuses more requests for now.", "Try again later, or log in to it."
        )
    if answer.status_code != 200:
        raise UnresolvedError(f"The registry {host} answers with status {answer.status_code}.", "Try again later.")
    return _pin(answer, key, host)


def _asked(login: Any, url: str) -> requests.Response:
    """Return the answer of a registry, which is asked again with a token or password if it wants one.

    Registries are not asked by `do_request` of oras, which waits for two minutes where no password is known.
    """
    headers = {"Accept": ", ".join(_TYPES)}
    session: RegistrySession = login.session
    answer = session.get(url, headers=headers)
    if answer.status_code != 401:
        return answer
    if answer.headers.get("Www-Authenticate", "").lower().startswith("basic"):
        # Oras would ask for a token.
        password = getattr(login, "_basic_auth", "")
        own = {**headers, "Authorization": f"Basic {password}"}
        return session.get(url, headers=own) if password else answer
    headers, changed = login.authenticate_request(answer, headers)
    return session.get(url, headers=headers) if changed else answer


def server_and_name(image: str) -> tuple[str, str]:
    """Return the host of the registry and the name there, as Docker reads an image without a tag."""
    first, slash, rest = image.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        first, rest = _HUB, image
    if first in (_HUB, f"index.{_HUB}"):
        return _HUB_SERVER, rest if "/" in rest else f"library/{rest}"
    return first, rest


def _scheme(host: str) -> str:
    """Return `http` for a registry on this machine, as Docker does, else `https`."""
    return "http" if is_loopback(urlsplit(f"//{host}").hostname or "") else "https"


def _login(host: str, name: str) -> Any:
    """Return how oras logs in, with the password for an image. Raises `UnresolvedError` if it cannot be read."""
    found: Any = get_auth_backend("token", RegistrySession(), insecure=_scheme(host) == "http")
    parts, registries = logins(host, name)
    for path in _credential_files():
        try:
            config = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
            own = [each for each in parts if each in config.get("auths", {})]
            # Oras would read all files, in any order.
            found._auth_config = config
            if any(map(found._load_auth, (*own, *registries))):
                break
        except (ValueError, AttributeError, LookupError, TypeError, OSError):
            message = f"The credentials for {host} in {path} cannot be read, or the program that keeps them fails."
            raise UnresolvedError(message, f"Log in again: `docker login {host}`, or `podman login {host}`.") from None
    return found


def logins(host: str, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that credentials for the image `name` of `host` may have: parts of a registry, the registry.

    Podman may name a part, such as `quay.io/acme`; the narrowest counts first. Docker Hub has a name of Docker's too.
    """
    shown = _HUB if host == _HUB_SERVER else host
    folders = name.split("/")
    parts = (f"{shown}/{'/'.join(folders[:length])}" for length in range(len(folders), 0, -1))
    return tuple(parts), (shown, *((_HUB_LOGIN,) if shown == _HUB else ()))


def _credential_files() -> tuple[Path, ...]:
    """Return where Docker and Podman keep credentials. The first file that has some for an image counts.

    See containers-auth.json(5) and https://docs.docker.com/reference/cli/docker/.
    """
    given = os.environ.get("REGISTRY_AUTH_FILE")
    home = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    podman = [Path(runtime) / "containers" / "auth.json"] if runtime else []
    return (*([Path(given)] if given else []), home / "config.json", *podman)


def _pin(answer: requests.Response, key: str, host: str) -> ImagePin:
    content = answer.content
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    told = answer.headers.get("Docker-Content-Digest", digest)
    if len(content) > _LARGEST or (_DIGEST.fullmatch(told) and told != digest):
        raise UnresolvedError(f"The registry {host} sends another manifest of {key} than it names.", "Try again.")
    try:
        data = answer.json()
    except ValueError:
        raise UnresolvedError(f"The registry {host} sends no manifest for {key}.", "Check its name.") from None
    platforms = sorted({text for each in data.get("manifests") or () if (text := _platform(each))})
    return ImagePin(digest=digest, platforms=platforms[:_MOST_PLATFORMS] or None)


def _platform(entry: dict[str, dict[str, str]]) -> str:
    """Return the platform of an entry of an index, such as `linux/arm64/v8`; empty for an attestation."""
    found = entry.get("platform") or {}
    parts = [found.get(part) for part in ("os", "architecture", "variant")]
    return "" if "unknown" in parts else "/".join(filter(None, parts))


def _refused(key: str, host: str) -> UnresolvedError:
    message = f"The registry {host} refuses to show {key}."
    return UnresolvedError(message, f"Check its name, or log in: `docker login {host}`, or `podman login {host}`.")
