"""Host directories and variables that the platform file adds to containers that request a device."""

from collections.abc import Mapping

from stowplan.library.manifest import Json
from stowplan.schema.legacy import DEVICES
from stowplan.schema.platform.engines import Accelerator


def equipped(template: Json, container: str, accelerators: Mapping[str, Accelerator]) -> Json:
    """Return a copy of a pod template with the host directories and variables that the devices of `container` need.

    `container` is the name of a container. `accelerators` are those of the platform file, by name. Existing mounts with
    the same path and variables with the same name are not replaced.
    """
    spec = {**template["spec"], "containers": [dict(each) for each in template["spec"]["containers"]]}
    for each in spec["containers"]:
        if each.get("name") == container:
            for accelerator in _wanted(each, accelerators):
                _equip(spec, each, accelerator)
            break
    return {**template, "spec": spec}


def _wanted(container: Json, accelerators: Mapping[str, Accelerator]) -> list[Accelerator]:
    if not accelerators:
        return []
    resources = container.get("resources") or {}
    asked = {*(resources.get("limits") or {}), *(resources.get("requests") or {})}
    return [accelerators[name] for name in sorted(accelerators) if DEVICES.get(name, name) in asked]


def _equip(spec: Json, container: Json, accelerator: Accelerator) -> None:
    for volume in accelerator.volumes:
        if any(each.get("mountPath") == volume.mount_path for each in container.get("volumeMounts") or ()):
            continue
        mount = {"mountPath": volume.mount_path, "name": volume.name}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
        if all(each.get("name") != volume.name for each in spec.get("volumes") or ()):
            added = {"name": volume.name, "hostPath": {"path": volume.host_path}}
            spec["volumes"] = [*(spec.get("volumes") or ()), added]
    for variable in accelerator.env_vars:
        if all(each.get("name") != variable.name for each in container.get("env") or ()):
            added = {"name": variable.name, "value": variable.value}
            container["env"] = [*(container.get("env") or ()), added]
