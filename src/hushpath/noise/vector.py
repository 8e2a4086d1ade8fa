"""The vector sampler: millions of exact values a second, from a keystream of its own.

This file keeps the words in order; the laws and their proofs are in ``exact.py``.  What could
go wrong here is not the shape of the noise but using it twice: values made from the same words are the same,
and the difference of two releases would then show the data bare.  So words are read under a lock, those left
over serve the next call, a forked copy refuses to work, and a sampler can be neither copied nor pickled.  One sampler
may serve several releases: each gets fresh words.
"""

from __future__ import annotations

import os
import threading
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import CannotError
from .exact import fill
from .keystream import Keystream
from .laws import Law, checked_scales

# Words fetched at a time: 128 kB stay in cache, and AES needs 20 µs for them.  Results do not depend on it.
CHUNK = 1 << 14


class VectorSampler:
    """Exact noise from a keystream.

    Guarantees:
        * the values are a function of the keystream and of the sequence of (law, scale) asked for: neither
          buffer sizes nor the division into calls matter;
        * no word serves two values, whichever threads call;
        * a secret stream is used by the process that opened it only;
        * it is not copied, deep-copied or pickled: a copy would read the words left over a second time.
    """

    def __init__(self, stream: Keystream, *, chunk: int = CHUNK) -> None:
        if chunk < 1:
            raise ValueError(f"chunk must be >= 1 word, got {chunk}")
        self.private = stream.secret
        self.name = "vector" if stream.secret else "vector-seeded"
        self._stream = stream
        self._chunk = chunk
        self._unread = np.empty(0, dtype=np.uint64)
        self._lock = threading.Lock()

    def draw(self, law: Law, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one independent draw per entry of ``scales``, in its shape."""
        law, scales = Law(law), checked_scales(scales)
        if self.private and os.getpid() != self._stream.process:
            # The copy has the same key and would repeat its parent's noise.
            raise CannotError("a noise sampler cannot cross a fork: make one in each process")
        flat = np.ascontiguousarray(scales.reshape(-1))
        out = np.empty(flat.size, dtype=np.int64)
        with self._lock:
            done = self._advance(law, flat, out, 0)
            while done < flat.size:
                self._unread = np.concatenate([self._unread, self._stream.read(self._chunk)])
                done = self._advance(law, flat, out, done)
        return out.reshape(scales.shape)

    def _advance(self, law: Law, scales: NDArray[np.int64], out: NDArray[np.int64], done: int) -> int:
        done, used = fill(law is Law.GAUSSIAN, scales, out, done, self._unread)
        self._unread = self._unread[used:]
        return done

    def __reduce__(self) -> NoReturn:
        raise TypeError("a noise sampler is not copied or pickled: the copy would repeat its noise")
