"""The hash of a listing, which `pin` and the agents must agree on."""

from stowplan.schema.remotes.s3_listing import ListingHash


def revision(*objects: tuple[str, int, str]) -> str:
    listing = ListingHash()
    for each in objects:
        listing.add(*each)
    return listing.revision


def test_the_form_stays_the_same() -> None:
    """Markers in volumes and lock files in repositories hold it."""
    assert revision(("a/ä.jpg", 3, '"0123"'), ("b", 0, "")) == (
        "sha256:b5699106557e19495ffe9a1043f9d640c8289f523e7562570a644686926432a4"
    )
    assert revision() == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_keys_sizes_and_etags_count_and_quotes_do_not() -> None:
    one = revision(("a", 1, "x"), ("b", 2, "y"))
    assert revision(("a", 1, '"x"'), ("b", 2, '"y"')) == one
    others = [
        revision(("a", 1, "x")),
        revision(("a", 1, "x"), ("c", 2, "y")),
        revision(("a", 1, "x"), ("b", 3, "y")),
        revision(("a", 1, "x"), ("b", 2, "z")),
    ]
    assert one not in others
