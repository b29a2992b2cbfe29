"""A file system on which one write takes fewer bytes than it is given, as one that is full for a moment does."""

import shutil
import subprocess
from pathlib import Path

import pytest

_CODE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static size_t part(int file, size_t size) {
    struct stat found;
    return size > 4096 && !fstat(file, &found) && S_ISREG(found.st_mode) ? size * 3 / 5 : size;
}

ssize_t write(int file, const void *data, size_t size) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = dlsym(RTLD_NEXT, "write");
    return next(file, data, part(file, size));
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    static ssize_t (*next)(int, const void *, size_t, off64_t);
    if (!next) next = dlsym(RTLD_NEXT, "pwrite64");
    return next(file, data, part(file, size), offset);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
    return pwrite64(file, data, size, offset);
}
"""

_LOSING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t write(int file, const void *data, size_t size) {
    static ssize_t (*next)(int, const void *, size_t);
    char link[64], path[4096];
    if (!next) next = dlsym(RTLD_NEXT, "write");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    const char *name = "/lost.txt";
    if (length < (ssize_t)strlen(name) || memcmp(path + length - strlen(name), name, strlen(name)))
        return next(file, data, size);
    return next(file, data, size / 2) < 0 ? -1 : (ssize_t)size;
}
"""


def losing(folder: Path) -> str:
    """Return a library as `library` does, which loses half of what is written to `lost.txt`, and tells nobody."""
    return library(folder, _LOSING)


def library(folder: Path, code: str = _CODE) -> str:
    """Compile the calls of the system, and return the path for `LD_PRELOAD`."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.fail("A C compiler is needed: Debian's packages `gcc` and `libc6-dev`")
    source, made = folder / "short.c", folder / "short.so"
    source.write_text(code, encoding="utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return str(made)
