"""Formats of values in the platform file: addresses, images, amounts, names.

Without these checks Kubernetes or Argo CD would report each error late, or once for every spec that uses the value.
"""

import re
from collections.abc import Iterator
from ipaddress import ip_interface, ip_network
from urllib.parse import urlsplit

from stowplan.library.dialects.training_group import image_rules
from stowplan.library.values import image_reference
from stowplan.library.values.names import is_dns_subdomain
from stowplan.library.values.quantities import amount, larger
from stowplan.schema.codes import CATALOGUE
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding
from stowplan.schema.platform import cache_directories
from stowplan.schema.platform.argocd import ArgoCD
from stowplan.schema.platform.network import DNS_PORT, LINK_LOCAL, lies_in
from stowplan.schema.platform.platform import Platform
from stowplan.schema.platform.policy import Policy
from stowplan.schema.platform.settings import Amounts, Resources
from stowplan.schema.wording import describe, found_but

_REGISTRY = re.compile(rf"(?:{image_reference.HOST}|{image_reference.PART})(?:/{image_reference.PART})*")
"""Image reference without its tag."""

_TAG = re.compile(image_reference.TAG)
_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)[^\s:]+")
"""Address `git@host:path`, in the syntax of `git clone`."""

_REVISION = re.compile(r"[^\s\x00-\x1f~^:\\]+")
_NAMESPACES = re.compile(r"(?!!\*$)!?[a-z0-9*?\[\]{},!-]+")
"""Name or pattern, in the syntax of AppProjects; a leading `!` denies. Argo CD refuses a project that denies all."""

_TOKEN = re.compile(r"(?:gh[a-z]_|github_pat_|gl[a-z]+-|x-token|oauth2).*|.{52,}")
"""A user name in a URL that is a secret: access tokens of well-known Git hosts, and strings too long for a name."""

_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LAST_PORT = 65535

_A = {"error": "an error", "warning": "a warning"}

_GIT_SCHEMES = frozenset({"https", "http", "ssh", "git", "file", "oci"})
_GIT_FORM = "a Git URL such as https://git.example.com/ml/data.git or git@git.example.com:ml/data.git"


def findings(platform: Platform) -> Iterator[Finding]:
    """Yield a finding for each value of the platform file that has a wrong format."""
    yield from _images(platform)
    yield from _argocd(platform.argocd)
    yield from _egress(platform)
    if not is_dns_subdomain(platform.juicefs.csi_driver):
        yield _form(("juicefs", "csiDriver"), platform.juicefs.csi_driver, "a name such as csi.juicefs.com")
    for index, prefix in enumerate(platform.juicefs.cache_directories):
        yield from cache_directories.prefix_findings(prefix, ("juicefs", "cacheDirectories", index))
    yield from _engines(platform)
    yield from _quiet(platform.policy)
    for agent in ("runtime", "task", "control"):
        yield from _resources(getattr(platform.resources, agent), ("resources", agent))


def _quiet(policy: Policy) -> Iterator[Finding]:
    infos = [code for code, each in CATALOGUE.items() if each.severity == Severity.INFO]
    for index, code in enumerate(policy.quiet):
        if code not in infos:
            known = CATALOGUE.get(code)
            why = f"{code} is {_A[known.severity]}; only infos can be silenced" if known else f"There is no code {code}"
            path: FieldPath = ("policy", "quiet", index)
            yield finding("SP204", path, f"{why}.", f"Remove it. Infos are {', '.join(infos)}.")


def _engines(platform: Platform) -> Iterator[Finding]:
    if not is_dns_subdomain(platform.engines.scheduler):
        yield _form(("engines", "scheduler"), platform.engines.scheduler, "a name such as scheduler-plugins-scheduler")
    for index, server in enumerate(platform.paddle.elastic_servers):
        if not _is_endpoint(server):
            allowed = "a host and a port without a scheme, such as etcd.ml:2379"
            yield _form(("paddle", "elasticServers", index), server, allowed)
    ports = platform.paddle.host_ports
    if ports.first > ports.last:
        message = f"Found {ports.last}; the last port is not before the first, which is {ports.first}."
        yield finding("SP205", ("paddle", "hostPorts", "last"), message, "Exchange the two.")


def _form(path: FieldPath, value: str, allowed: str) -> Finding:
    return finding("SP206", path, *found_but(describe(value), allowed))


def _images(platform: Platform) -> Iterator[Finding]:
    images = platform.images
    if images.registry is not None and not _REGISTRY.fullmatch(images.registry):
        allowed = "a host and path such as registry.example.com/ml, without https://, tag or / at the end"
        yield _form(("images", "registry"), images.registry, allowed)
    if images.tag is not None and not _TAG.fullmatch(images.tag):
        yield _form(("images", "tag"), images.tag, "a tag of letters, digits, _, . and -")
    etcd = platform.paddle.etcd_image
    if image_reference.parse(etcd) is None:
        yield _form(("paddle", "etcdImage"), etcd, image_rules.FORM)


def _argocd(argocd: ArgoCD) -> Iterator[Finding]:
    path: FieldPath = ("argocd", "repoURL")
    if argocd.repo_url is not None:
        secret = _secret(argocd.repo_url, path, "Remove it, revoke it, and give it to Argo CD with `argocd repo add`.")
        yield from secret or ([] if _is_repository(argocd.repo_url) else [_form(path, argocd.repo_url, _GIT_FORM)])
    if _leads_elsewhere(argocd.path):
        message = f"Found {describe(argocd.path)}; the path is relative to the repository and has no `.` or `..` in it."
        yield finding("SP405", ("argocd", "path"), message, "Give a relative path such as `out` or `team/out`.")
    if not _REVISION.fullmatch(argocd.target_revision):
        yield _form(("argocd", "targetRevision"), argocd.target_revision, "the name of a branch, a tag or a commit")
    path = ("argocd", "destination", "server")
    server = argocd.destination.server
    if server is not None:
        secret = _secret(server, path, "Remove it, revoke it, and add the cluster with `argocd cluster add`.")
        allowed = "the URL of an API server such as https://kubernetes.default.svc"
        yield from secret or ([] if _is_url(server, {"https", "http"}) else [_form(path, server, allowed)])
    for index, name in enumerate(argocd.destination.namespaces):
        if not _NAMESPACES.fullmatch(name):
            yield _form(("argocd", "destination", "namespaces", index), name, "a namespace or a pattern such as team-*")


def _secret(url: str, path: FieldPath, hint: str) -> list[Finding]:
    """Return SP603 for a URL with a password or a token, which the message does not repeat; otherwise an empty list."""
    user, _, password = url.partition("://")[2].partition("/")[0].rpartition("@")[0].partition(":")
    if not (password or _TOKEN.fullmatch(user)):
        return []
    message = "The URL carries a password or a token; what is committed to Git is no secret any more."
    return [finding("SP603", path, message, hint)]


def _is_repository(url: str) -> bool:
    if "://" not in url:
        return _SCP_LIKE.fullmatch(url) is not None
    return _is_url(url, _GIT_SCHEMES) and urlsplit(url).path.strip("/") != ""


def _is_url(url: str, schemes: frozenset[str] | set[str]) -> bool:
    """Whether a string is a valid URL of one of the schemes, with a host unless the scheme is `file`."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in schemes and (bool(parts.hostname) or parts.scheme == "file")
        return sound and not any(c.isspace() for c in url) and (parts.port or 1) > 0
    except ValueError:
        return False


def _is_endpoint(text: str) -> bool:
    """Whether a string is a host name and a port with one colon, because Paddle splits the string at its colons."""
    host, _, port = text.partition(":")
    return is_dns_subdomain(host) and _PORT.fullmatch(port) is not None and int(port) <= _LAST_PORT


def _leads_elsewhere(path: str) -> bool:
    return path.startswith("/") or "\\" in path or (path != "." and not {".", ".."}.isdisjoint(path.split("/")))


def _egress(platform: Platform) -> Iterator[Finding]:
    for index, rule in enumerate(platform.network.egress):
        better = _better_range(rule.cidr)
        if better != rule.cidr:
            message = f"Found {describe(rule.cidr)}; allowed is an address range that ends in its prefix length."
            yield finding("SP206", ("network", "egress", index, "cidr"), message, f"Give for example {better}.")
        elif (
            platform.network.deny_link_local
            and rule.ports != [DNS_PORT]
            and any(lies_in(rule.cidr, each) for each in LINK_LOCAL)
        ):
            message = (
                f"Found {describe(rule.cidr)}, an address of the node itself, which `network.denyLinkLocal` denies."
            )
            hint = f"Remove the rule, give it port {DNS_PORT} alone for a DNS server, or set `denyLinkLocal: false`."
            yield finding("SP621", ("network", "egress", index, "cidr"), message, hint)


def _better_range(cidr: str) -> str:
    """Return a valid address range for a hint: `cidr` itself if it is valid, else the probable range or an example."""
    address, slash, length = cidr.partition("/")
    try:
        if not slash:
            return str(ip_interface(cidr))
        network = ip_network(cidr, strict=False)
    except ValueError:
        return "10.0.0.0/8"
    if not length.isdecimal() or ip_interface(address).ip != network.network_address:
        return str(network)
    return cidr


def _resources(resources: Resources, path: FieldPath) -> Iterator[Finding]:
    wrong = [*_amounts(resources.requests, (*path, "requests")), *_amounts(resources.limits, (*path, "limits"))]
    yield from wrong
    for name in ("cpu", "memory"):
        request, limit = getattr(resources.requests, name), getattr(resources.limits, name)
        if not wrong and larger(request, limit):
            message = f"The request {request} is more than the limit {limit}; Kubernetes refuses such a pod."
            yield finding("SP205", (*path, "requests", name), message, "Lower the request, or raise the limit.")


def _amounts(amounts: Amounts, path: FieldPath) -> Iterator[Finding]:
    for name in ("cpu", "memory"):
        value = getattr(amounts, name)
        if amount(value) is None:
            yield _form((*path, name), value, "a quantity such as 500m or 1Gi")
        elif larger("0", value):
            yield finding("SP205", (*path, name), *found_but(describe(value), "a quantity of at least 0"))
