"""References to images: which ones runtimes take, and which ones move."""

import pytest

from stowplan.library.values.image_reference import ImageReference, parse

DIGEST = f"sha256:{'a' * 64}"


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("nginx", ImageReference("nginx")),
        ("nginx:1.27", ImageReference("nginx", "1.27")),
        ("library/nginx:1", ImageReference("library/nginx", "1")),
        ("localhost:5000/train", ImageReference("localhost:5000/train")),
        ("10.0.0.1:5000/a/b:V1.0_x-y", ImageReference("10.0.0.1:5000/a/b", "V1.0_x-y")),
        ("[fd00::1]:5000/a:1", ImageReference("[fd00::1]:5000/a", "1")),
        ("Registry.example.com/ml/a__b.c-d:1", ImageReference("Registry.example.com/ml/a__b.c-d", "1")),
        (f"a@{DIGEST}", ImageReference("a", None, DIGEST)),
        (f"a/b:1@{DIGEST}", ImageReference("a/b", "1", DIGEST)),
    ],
)
def test_parts_of_a_reference(text: str, reference: ImageReference) -> None:
    assert parse(text) == reference


@pytest.mark.parametrize(
    "text",
    [
        "",
        " nginx",
        "nginx:",
        "nginx:1 ",
        "nginx:1:2",
        "NGINX:1",
        "registry.example.com/ML/train:1",
        "registry.example.com//train:1",
        "https://registry.example.com/train:1",
        "registry.example.com:port/train:1",
        "/train:1",
        "train/",
        "a..b",
        "a_:1",
        "-a",
        "{{ image }}",
        "$(IMAGE)",
        "a@sha256:abc",
        f"a@md5:{'a' * 32}",
        f"a@{DIGEST}:1",
        "f" * 64,
        f"{'a' * 200}/{'b' * 60}",
        f"a:{'1' * 129}",
    ],
)
def test_what_runtimes_refuse(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("tag", ["", ":latest", ":latest-gpu", ":gpu-latest", ":main", ":nightly"])
def test_a_tag_that_moves(tag: str) -> None:
    moving = parse(f"a{tag}")
    pinned = parse(f"a{tag}@{DIGEST}")
    assert moving
    assert pinned
    assert (moving.moves, pinned.moves) == (True, False)


@pytest.mark.parametrize("tag", ["1", "v2.6", "2.6.2-gpu-dev", "later", "mainline-7"])
def test_a_tag_that_stays(tag: str) -> None:
    reference = parse(f"a:{tag}")
    assert reference
    assert not reference.moves
