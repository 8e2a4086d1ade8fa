"""The same with coverage as a guide: libFuzzer through atheris keeps what reaches new lines of the loaders.

`python tests/fuzz/guided.py -max_total_time=300 FOLDER` (Linux; `pip install atheris`).  New finds are kept in FOLDER,
which starts as a copy of the corpus.  The mutator is ours: mostly structure-aware with a repaired digest, else raw.
A crash, a hang or an untyped error ends the run, and libFuzzer writes the file that did it.
"""

import importlib.util
import sys
import tempfile
from pathlib import Path

import atheris

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

# Kernels are compiled by numba, which cannot read instrumented code.
PACKAGE = Path(importlib.util.find_spec("hushpath").submodule_search_locations[0])
COMPILED = [
    ".".join(["hushpath", *path.relative_to(PACKAGE).with_suffix("").parts])
    for path in PACKAGE.rglob("*.py")
    if "njit" in path.read_text()
]
with atheris.instrument_imports(include=["hushpath"], exclude=COMPILED):
    pass

import mutations
import numpy as np
from exercise import attempt
from forging import put_together, taken_apart

from hushpath import HushpathError

FOLDER = Path(tempfile.mkdtemp())
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.hush"))


def mutated(data, most, seed):
    """Another file made of this one."""
    rng = np.random.default_rng(seed)
    donor = CORPUS[rng.integers(len(CORPUS))]
    (FOLDER / "parent.hush").write_bytes(data)
    if rng.random() < 0.8:
        try:
            header, arrays = mutations.structured(rng, *taken_apart(FOLDER / "parent.hush"), taken_apart(donor))
            return put_together(FOLDER / "child.hush", header, arrays).read_bytes()[:most]
        except HushpathError:
            pass
    return mutations.raw(rng, data, donor.read_bytes())[:most]


def one(data):
    """Load and ask; whatever is not a ``HushpathError`` ends the run."""
    (FOLDER / "case.hush").write_bytes(data)
    attempt(FOLDER / "case.hush")


if __name__ == "__main__":
    atheris.Setup([sys.argv[0], "-timeout=30", "-rss_limit_mb=4000", *sys.argv[1:]], one, custom_mutator=mutated)
    atheris.Fuzz()
