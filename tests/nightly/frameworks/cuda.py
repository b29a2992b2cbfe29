"""Empty libraries in place of CUDA's, so that PyTorch from PyPI computes on a CPU without them.

PyTorch's only wheel on PyPI for Linux on x86-64 links to 2.3 GB of libraries for GPUs. The loader wants each of their
functions to exist, and nothing calls them on a machine without a GPU; a call ends the process by SIGILL. The wheel
itself stays as it is.
"""

import re
import subprocess
import tempfile
from pathlib import Path

LIBRARIES = {
    "libcublas.so.13": "@libcublas.so.13",
    "libcublasLt.so.13": "@libcublasLt.so.13",
    "libcudnn.so.9": "@libcudnn.so.9",
    "libcufft.so.12": "@libcufft.so.12",
    "libcusparse.so.12": "@libcusparse.so.12",
    "libcusparseLt.so.0": "cusparseLt",
    "libnccl.so.2": "nccl",
    "libnvrtc.so.13": "@libnvrtc.so.13",
    "libnvshmem_host.so.3": "@NVSHMEM",
}
"""Libraries that are left out, and how to know their functions: by `@` and a version, or by how their names begin."""

_UNDEFINED = re.compile(r" UND (\S+)")


def replace(environment: Path) -> None:
    """Writes the libraries beside those of torch. CalledProcessError or FileNotFoundError without a C compiler."""
    (folder,) = environment.glob("lib/python*/site-packages/torch/lib")
    wanted: set[str] = set()
    for library in folder.glob("libtorch*.so"):
        listed = subprocess.run(["readelf", "-W", "--dyn-syms", library], capture_output=True, text=True, check=True)
        wanted |= set(_UNDEFINED.findall(listed.stdout))
    for name, sign in LIBRARIES.items():
        _compile(folder / name, sorted(_functions(wanted, sign)), sign)


def _functions(wanted: set[str], sign: str) -> set[str]:
    if sign.startswith("@"):
        return {name.removesuffix(sign) for name in wanted if name.endswith(sign)}
    return {name for name in wanted if name.startswith(sign)}


def _compile(library: Path, functions: list[str], sign: str) -> None:
    source = "".join(f"void {name}(void) {{ __builtin_trap(); }}\n" for name in functions)
    with tempfile.NamedTemporaryFile("w", suffix=".map") as versions:
        words = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", str(library), "-x", "c", "-"]
        if sign.startswith("@"):
            versions.write(f"{sign[1:]} {{ global: *; }};\n")
            versions.flush()
            words.insert(1, f"-Wl,--version-script,{versions.name}")
        subprocess.run(words, input=source, text=True, check=True, capture_output=True)
