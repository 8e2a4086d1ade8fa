"""Noise that is drawn from a name instead of the operating system, so that a test draws the same each time.

``conftest.py`` does so in the process of the tests.  A program in a process of its own:

    python tests/keyed_noise.py NAME PROGRAM.py ARGUMENTS...

and tests in a process of their own: ``pytest -p keyed_noise``.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from hushpath.extras import installed
from hushpath.noise import vector


class NamedKeys:
    """Keys for noise: from the operating system, or the first, second, ... of a name."""

    def __init__(self, name: str | None = None) -> None:
        self.name, self.count = name, 0

    def urandom(self, count: int) -> bytes:
        if self.name is None:
            return os.urandom(count)
        self.count += 1
        return hashlib.sha256(f"{self.name} {self.count}".encode()).digest()[:count]

    @contextmanager
    def named(self, name: str | None) -> Iterator[None]:
        before = self.name, self.count
        self.name, self.count = name, 0
        yield
        self.name, self.count = before


def install(name: str | None = None) -> NamedKeys:
    """Let every sampler take its keys from what is returned."""
    keys = NamedKeys(name)
    vector.os = SimpleNamespace(urandom=keys.urandom, getpid=os.getpid)
    if installed("opendp"):
        from hushpath.noise.samplers import OpendpSampler

        opendp_draw = OpendpSampler.draw

        def draw(self, law, scales):
            if keys.name is None:
                return opendp_draw(self, law, scales)
            # OpenDP takes no key; the laws are the same.
            return vector.VectorSampler(vector.Keystream()).draw(law, scales)

        OpendpSampler.draw = draw
    return keys


def pytest_configure() -> None:
    """As a plugin: one key for all tests."""
    install("pytest")


if __name__ == "__main__":
    _, key, program, *arguments = sys.argv
    install(key)
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")
