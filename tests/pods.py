"""What pods of agents get."""

from stowplan.library.manifest import Json


def values(spec: Json) -> list[Json]:
    """The variables of an agent's pod; a file that stands for a variable has the fields of one."""
    (container,) = spec["containers"]
    sources = (each["secret"] for volume in spec["volumes"] for each in volume.get("projected", {}).get("sources", ()))
    files = [
        {"name": item["path"], "valueFrom": {"secretKeyRef": {"name": each["name"], "key": item["key"]}}}
        for each in sources
        for item in each["items"]
    ]
    return [*container["env"], *files]
