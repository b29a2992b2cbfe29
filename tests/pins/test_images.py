"""Names under which files of credentials have the password for an image."""

from stowplan.compiler.pins.resolvers.images import logins, server_and_name


def test_docker_and_podman_name_docker_hub_each_in_their_own_way() -> None:
    _, registries = logins(*server_and_name("busybox"))
    assert registries == ("docker.io", "https://index.docker.io/v1/")


def test_the_narrowest_part_of_a_registry_counts_first() -> None:
    found = logins(*server_and_name("quay.io/acme/train"))
    assert found == (("quay.io/acme/train", "quay.io/acme"), ("quay.io",))
