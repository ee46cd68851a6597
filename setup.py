"""Builds the one extension module; everything static stands in pyproject.toml."""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

# Switches for developers (CONTRIBUTING.md): FSST_BUILD=debug keeps assertions, =sanitize adds ASan and UBSan.
build = os.environ.get("FSST_BUILD", "")
if sys.platform == "win32":
    compile_args, link_args = ["/std:c++17", "/O2"], []
else:
    compile_args, link_args = ["-std=c++17", "-O3", "-fvisibility=hidden", "-Wall", "-Wextra", "-g0"], ["-pthread"]
    if build == "debug":
        compile_args += ["-O1", "-g", "-UNDEBUG"]
    elif build == "sanitize":
        compile_args += ["-O1", "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer"]
        link_args += ["-fsanitize=address,undefined"]

extension = Extension(
    "fsst._core",
    sources=["fsst/_core.pyx"],
    depends=[f"fsst/csrc/{name}" for name in sorted(os.listdir("fsst/csrc"))],
    include_dirs=["fsst"],
    language="c++",
    extra_compile_args=compile_args,
    extra_link_args=link_args,
)

setup(ext_modules=cythonize([extension], build_dir="build/cython"))
