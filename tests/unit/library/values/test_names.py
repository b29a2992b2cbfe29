import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.library.values import names
from stowplan.library.values.names import MOST_PODS, DatasetNames, TaskNames, TrainingNames

LABELS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


@pytest.mark.parametrize("text", ["a", "0", "a-b", "a" * 63])
def test_label(text: str) -> None:
    assert names.is_dns_label(text)


@pytest.mark.parametrize("text", ["", "-a", "a-", "A", "a_b", "a.b", "a" * 64, "a\n", "ä"])
def test_no_label(text: str) -> None:
    assert not names.is_dns_label(text)


@pytest.mark.parametrize("text", ["a", "a.b", "a-1.b-2", ".".join(["a" * 63] * 3)])
def test_subdomain(text: str) -> None:
    assert names.is_dns_subdomain(text)


@pytest.mark.parametrize("text", ["", ".a", "a.", "a..b", "a.-b", "A.b", "a" * 254])
def test_no_subdomain(text: str) -> None:
    assert not names.is_dns_subdomain(text)


def test_a_name_that_fits_is_kept() -> None:
    assert names.shorten("a" * 63, 63) == "a" * 63


def test_a_name_that_does_not_fit_ends_in_a_hash_of_all_of_it() -> None:
    short = names.shorten("a" * 64, 63)
    assert (len(short), short[:55]) == (63, "a" * 54 + "-")
    assert short != names.shorten("a" * 65, 63)


def test_no_cut_leaves_two_signs_side_by_side() -> None:
    assert names.shorten("abc.-" + "d" * 20, 14)[:5] == f"abc-{names.content_hash('abc.-' + 'd' * 20)[0]}"


@given(LABELS, LABELS, st.integers(min_value=20, max_value=63))
def test_a_shortened_name_is_a_label_within_its_limit(stem: str, suffix: str, limit: int) -> None:
    assert len(names.shorten(stem + suffix, limit)) <= limit
    assert names.is_dns_label(names.shorten(stem + suffix, limit))


@given(LABELS)
def test_a_hashed_name_keeps_its_hash(stem: str) -> None:
    name = names.with_hash(stem, "abcdefgh")
    assert name.endswith("-abcdefgh")
    assert names.is_dns_label(name)


def test_hash_is_eight_characters_of_a_label() -> None:
    assert len(names.content_hash({"a": 1})) == names.HASH_LENGTH == 8
    assert set(names.content_hash({"a": 1})) <= set(string.ascii_lowercase + string.digits)


def test_hash_ignores_the_order_of_keys() -> None:
    assert names.content_hash({"a": 1, "b": 2}) == names.content_hash({"b": 2, "a": 1})


@pytest.mark.parametrize("other", [{"a": "1"}, {"a": True}, {"a": [1]}, {"b": 1}])
def test_hash_tells_values_apart(other: object) -> None:
    assert names.content_hash({"a": 1}) != names.content_hash(other)


def test_objects_of_a_sample_set() -> None:
    own = DatasetNames("ml", "data", "namespaced")
    assert (own.volume, own.volume_handle, own.claim) == ("ml.data", "ml.data", "data")
    assert (own.runtime, own.service, own.runtime_pod(2)) == ("data-runtime", "data-runtime-service", "data-runtime-2")
    assert (own.base, own.sync, own.warmup(1)) == ("data-sampleset", "data-sync", "data-warmup-1")


def test_upstream_volume_keeps_the_names_of_paddle_operator() -> None:
    own = DatasetNames("ml", "data", "upstream")
    assert (own.volume, own.volume_handle) == ("data", "ml-data")


def test_volume_name_is_shortened_and_still_equals_its_handle() -> None:
    own = DatasetNames("n" * 40, "s" * 40, "namespaced")
    assert own.volume == own.volume_handle
    assert len(own.volume) == names.LABEL_LIMIT


def test_no_two_sample_sets_share_a_volume() -> None:
    pairs = [("a", "b-c"), ("a-b", "c"), ("n" * 40, "s" * 40), ("n" * 40, "s" * 41), ("n" * 41, "s" * 40)]
    assert len({DatasetNames(*pair, "namespaced").volume for pair in pairs}) == len(pairs)


def test_objects_of_a_sample_job() -> None:
    own = TaskNames("work")
    assert (own.base, own.task(None), own.task(3)) == ("work-samplejob", "work-samplejob", "work-samplejob-3")


def test_objects_of_a_dataset_task_never_have_the_names_of_those_of_a_sample_job() -> None:
    own = TaskNames("work", "datasettask")
    assert (own.base, own.task(3), own.warmup(0)) == (
        "work-datasettask",
        "work-datasettask-3",
        "work-datasettask-warmup-0",
    )


@pytest.mark.parametrize("name", ["a", "1st.of-many", "n" * 63])
def test_webhook_of_jobset_takes_the_name(name: str) -> None:
    """The webhook reserves space for pod names with a random suffix, although pods have no such names."""
    own = TrainingNames(name, "paddlejob").job_set(["ps", "worker"], "abcdefgh")
    longest = f"{own}-worker-0-{MOST_PODS - 1}-abcde"
    assert names.is_dns_label(longest)
    assert longest[0].isalpha()
