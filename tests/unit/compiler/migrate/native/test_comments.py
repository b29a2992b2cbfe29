"""Comments go with the fields that they are about, and the rest of a file stays as it is."""

import pytest

from stowplan.compiler.yaml import comments
from tests.unit.compiler.migrate.native.migrated import migrated, spec

BEFORE = """\
# The photos.
apiVersion: batch.paddlepaddle.org/v1alpha1   # an old kind
kind: SampleSet
metadata:
  name: x   # a name

  # the team
  namespace: ml
spec:   # what it is
  # two nodes
  # with a disk each
  partitions: 2   # not one
  csi:
    # options of the mount
    juiceFSMountOptions:
      # only a part
      sub-dir: train  # of all
      prefetch: 0x10
  cache:
    levels:
    # fast
    - path: /mem # in memory
      cacheSize: 1024 # MiB
      # path: /ssd
    # - path: /hdd
  source: # the store
    uri: "s3://bucket.example.com/train"
  warmupAfterSync: false # too large
  noSync: false   # copy it
  # the keys
  secretRef: {name: volume} # in Vault
# the end
"""
AFTER = """\
# The photos.
apiVersion: stowplan.dev/v1alpha1  # an old kind
kind: Dataset
metadata:
  name: x  # a name

  # the team
  namespace: ml
spec:  # what it is
  # copy it
  source:
    storage:
      # the store
      uri: "s3://bucket.example.com/train"
      secretRef:
        name: volume
  volume:
    juicefs:
      # the keys
      secretRef: {name: volume}  # in Vault
      # only a part
      subPath: train  # of all
      # options of the mount
      options:
        prefetch: 0x10
  cache:
    # two nodes
    # with a disk each
    nodes: 2  # not one
    tiers:
    # fast
    - path: /mem  # in memory
      size: 1024Mi  # MiB
      # path: /ssd
      # - path: /hdd
    warmup: none  # too large
# the end
"""


def test_comments_go_with_their_fields() -> None:
    assert migrated(BEFORE).texts == {"0.yaml": AFTER}
    assert migrated(AFTER).texts == {}


def test_every_comment_stays() -> None:
    assert comments.words(AFTER) == comments.words(BEFORE)


def test_other_documents_of_a_file_stay_as_they_are() -> None:
    other = "# mine\nkind:    ConfigMap\napiVersion: v1   # core\nmetadata: {name:  a}\n"
    stays = spec("TrainingJob", "image:  a:1\ntrainer: {min-instance:   1}", "stays")
    text = "# head\n---\n{}--- # next\n{}---\n{}"
    found = migrated(text.format(other, BEFORE, stays)).texts
    assert found == {"0.yaml": text.format(other, AFTER, stays)}


def test_lines_keep_their_ends() -> None:
    assert migrated(BEFORE.replace("\n", "\r\n")).texts == {"0.yaml": AFTER.replace("\n", "\r\n")}


@pytest.mark.parametrize("start", ["---\n", "", "--- # a\n", "\n\n"])
def test_the_start_of_a_file(start: str) -> None:
    assert migrated(start + BEFORE).texts == {"0.yaml": start + AFTER}


def test_strings_keep_their_style() -> None:
    body = """
worker:
  replicas: 1
  template:
    spec:
      containers:
      - name: a
        image: 'b:1'
        command: ["python", '-c']
        args:
        - |   # the program
          # not a comment
          print("x")

        - >-
          folded
          text
        - "0600"
        - yes
        # last
        - 'on'
"""
    (text,) = migrated(spec("PaddleJob", body.replace("- yes", '- "yes"'))).texts.values()
    assert "  image: 'b:1'\n" in text
    assert (
        """\
  command: ["python", '-c']
  args:
  - |  # the program
    # not a comment
    print("x")
  - >-
    folded
    text
  - "0600"
  - "yes"
  # last
  - 'on'
"""
        in text
    )


@pytest.mark.parametrize(
    "secret",
    ["&a {name: volume}\nsource: {uri: s3://b.example.com/c, secretRef: *a}", "!!map {name: volume}\nnoSync: true"],
)
def test_anchors_and_tags_are_left_to_a_person(secret: str) -> None:
    result = migrated(spec("SampleSet", f"partitions: 1\nsecretRef: {secret}"))
    assert (result.reasons, result.texts) == ([("SP427", "kind")], {})
