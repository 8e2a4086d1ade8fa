"""Parts that several runs have made become one matrix: the folder or the file that a single run would have written.

What the parts must be follows from the release and the question, which are asked for again; no file is believed about
either.  Their numbers are taken as they are, once labels and checksums are right: whoever can write into a folder can
write numbers, so join what your own runs have made.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..data.labels import Label
from ..errors import InputError, OptionError
from ..files.container import replacing
from ..progress import steps
from .export import FORMATS, MatrixAsked, write_asked
from .oracle import Release
from .parts import Part, make_folder
from .proved import MISSING, fault, numbers_in
from .shares import check_folder, finish, parted

MOST_NAMED = 3


def join_parts(
    release: Release, path: str | os.PathLike[str], folders: Sequence[str | os.PathLike[str]],
    sources: Sequence[Label] | None = None, targets: Sequence[Label] | None = None, **question: Any,
) -> tuple[int, int]:  # fmt: skip
    """Write to ``path``, a folder or a file, the matrix whose parts lie in these folders; return its shape.

    A folder that is one of them is checked and finished where it is.  The question is the one its parts were made for.
    """
    whole, out, given = parted(release, sources, targets, **question), Path(path), [Path(one) for one in folders]
    for folder in given:
        if not folder.is_dir():
            raise OptionError(f"{folder} is no folder of parts")
    parts = [part for matrix in whole for part in matrix.parts]
    as_file = out.suffix.lower() in FORMATS
    if as_file and len(whole) > 1:
        raise OptionError("a file holds one period; choose one, or join all of them in a folder")
    if not as_file:
        check_folder(out, parts)
    found = {part: _found(part, given) for part in parts}
    _refuse_gaps(found)
    files = tuple((part, path) for part, (path, _) in found.items())
    if as_file:
        return write_asked(_Joined(**vars(whole[0].asked), files=files), out)
    for part, path in steps(files, "joining"):
        numbers_in(part, path)  # which proves it
        target = out / part.name
        if not (target.exists() and target.samefile(path)):
            make_folder(target.parent)
            with replacing(target) as temporary:
                shutil.copyfile(path, temporary)
    finish(out, whole)
    return len(whole[0].asked.sources), len(whole[0].asked.targets)


@dataclass(frozen=True)
class _Joined(MatrixAsked):
    """The same matrix, read from files of parts, in order."""

    files: tuple[tuple[Part, Path], ...]

    def fill(self, rows: slice, out: Any) -> None:
        """Some of the rows; a part is read once where rows are asked for in order."""
        for part, path in self.files:
            first, last = max(rows.start, part.sources.start), min(rows.stop, part.sources.stop)
            if first < last:
                mine = slice(first - part.sources.start, last - part.sources.start)
                out[:, first - rows.start : last - rows.start] = _numbers(part, path)[:, mine]


@lru_cache(maxsize=1)
def _numbers(part: Part, path: Path) -> Any:
    return numbers_in(part, path)


def _found(part: Part, folders: list[Path]) -> tuple[Path, str]:
    """The first file that is this part; else one that is not, and why."""
    tried = [(folder / part.name, fault(part, folder / part.name)) for folder in folders]
    return min(tried, key=lambda one: (bool(one[1]), one[1] == MISSING))


def _refuse_gaps(found: dict[Part, tuple[Path, str]]) -> None:
    """Say which parts are not there, and what is there in their place."""
    wrong = [f"{path} {why}" for path, why in found.values() if why]
    if wrong:
        more = f", and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
        raise InputError(f"{len(wrong)} of {len(found)} parts are not there: {', '.join(wrong[:MOST_NAMED])}{more}")
