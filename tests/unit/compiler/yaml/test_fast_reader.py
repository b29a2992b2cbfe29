"""What is read fast is what is read closely, and what the fast way may not read is left to the close one."""

import pytest

from stowplan.compiler.yaml import fast_reader
from stowplan.compiler.yaml.reader import MAX_DOCUMENTS, read, read_closely
from stowplan.compiler.yaml.tree_builder import MAX_DEPTH
from tests.repositories import CORPUS, REPOSITORY


def assert_read_as_closely(text: str) -> None:
    documents, diagnostics = read(text, "f")
    expected, explained = read_closely(text, "f")
    assert diagnostics == explained
    assert [(d.index, d.refused, repr(d.data)) for d in documents] == [
        (d.index, d.refused, repr(d.data)) for d in expected
    ]
    assert [d.root for d in documents] == [d.root for d in expected]


def is_plain(text: str) -> bool:
    return fast_reader.documents(text, MAX_DOCUMENTS) is not None


@pytest.mark.parametrize("folder", ["examples", "tests/cases", "tests/cases_invalid"])
def test_every_spec_here_is_read_as_closely(folder: str) -> None:
    texts = [path.read_bytes() for path in (REPOSITORY / folder).glob("**/*.y*ml") if ".out." not in path.name]
    assert len(texts) > 10
    for text in texts:
        assert_read_as_closely(text.decode(errors="replace"))


@pytest.mark.skipif(not CORPUS, reason="the documents of the old systems are not beside this repository")
def test_real_documents_are_read_as_closely() -> None:
    for text in CORPUS.values():
        assert_read_as_closely(text)


def test_what_people_write_is_plain() -> None:
    specs = [path.read_text() for path in REPOSITORY.glob("examples/*/specs/**/*.yaml")]
    assert [text for text in specs if not is_plain(text) and "*" not in text] == []
    assert sum(map(is_plain, specs)) > 0.8 * len(specs)
    assert is_plain("# 数据集\n---\nname: é\nkeys: [1, 0x10, 1.5, ~, yes, 'no', \"a\\tb\"]\n---\n")
    assert is_plain("text: |\n  #!/bin/sh\n  test a != b && echo *.py!\n")


UNUSUAL = [
    *["a: &x 1\nb: *x", "a: &x {b: 1}\n<<: *x", "<<: {a: 1}", "? {a: 1}\n: 2", "1: a", "yes: a", "~: a", "[a]: b"],
    *["a: 1\na: 2", "a: !!str 1", "a: !own 1", "a: ! 1", "! {a: 1}", "!!map {a: 1}", "a: !!seq [1]", "a: .inf"],
    *["a: b: c", "a: [", "a", "- a", "a: \u201cb\u201d", "a:\u00a0b", "a: \x01", "a: 1\n<<<<<<< mine\n", "\ufeffa: 1"],
]


@pytest.mark.parametrize("text", UNUSUAL)
def test_what_is_unusual_is_left_to_the_close_reader(text: str) -> None:
    assert not is_plain(text)
    assert_read_as_closely(text)


def nested(depth: int) -> str:
    return f"a: {'[' * (depth - 1)}{']' * (depth - 1)}"


def test_depth_is_bounded_as_by_the_close_reader() -> None:
    assert is_plain(nested(MAX_DEPTH))
    assert not is_plain(nested(MAX_DEPTH + 1))
    assert_read_as_closely(nested(MAX_DEPTH))
    assert_read_as_closely(nested(MAX_DEPTH + 1))


@pytest.mark.parametrize("sign", ["[", "{", "- ", "? ", ": ", "a: [", "[a: "])
def test_text_that_nests_without_end_does_not_end_the_process(sign: str) -> None:
    for times in (fast_reader.MAX_SIGNS, fast_reader.MAX_SIGNS // 2, 100 * fast_reader.MAX_SIGNS):
        assert not is_plain(sign * times)


def test_length_and_number_of_documents_are_bounded() -> None:
    longest = "a: ".ljust(fast_reader.MAX_LENGTH, "b")
    assert is_plain(longest)
    assert not is_plain(longest + "b")
    assert is_plain("---\n" * MAX_DOCUMENTS)
    assert not is_plain("---\n" * (MAX_DOCUMENTS + 1))
