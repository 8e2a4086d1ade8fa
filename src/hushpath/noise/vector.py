"""The vector sampler: millions of exact values a second from an AES-256 keystream of its own.

The stream is the encryption of zeros in counter mode, read as little-endian 64-bit words, keyed once from the operating
system; each key is used for one stream.  To an observer without the key the words are as good as uniform, so the
privacy that rests on them is computational, as for every sampler not fed by physical noise.  A seeded stream is
reproducible and protects no one: ``secret`` is False.

The laws and their proofs are in ``exact.py``.  The risk here is using words twice: the difference of two releases with
the same noise shows the data.  So words are read under a lock, words left over serve the next call, a forked copy
refuses to work, and a sampler can be neither copied nor pickled.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from ..errors import CannotError
from .exact import fill
from .laws import Law, check_scales

# Domain separation: another program derives another key from the same number.
SEED_LABEL = "hushpath noise, seeded, not private: "


class Keystream:
    """An endless stream of 64-bit words; no word is ever handed out twice.

    Guarantees:
        * word i is bytes 8i .. 8i+7 of AES-256-CTR over zeros, counter from 0, little-endian;
        * the words do not depend on the sizes in which they are read;
        * ``secret`` is True only for a key drawn here from the operating system;
        * it is not copied, deep-copied or pickled (``__reduce__`` prevents all three).
    """

    def __init__(self, *, seed: int | None = None) -> None:
        """Open a stream under a fresh secret key, or under the public key that ``seed`` names."""
        self.secret = seed is None
        self.process = os.getpid()  # a fork copies the key: its users must notice
        key = os.urandom(32) if seed is None else derive_key(seed)
        # Only the cipher keeps the key.
        self._cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def read(self, count: int) -> NDArray[np.uint64]:
        """Return the next ``count`` words."""
        if count < 0:
            raise ValueError(f"count of words must be >= 0, got {count}")
        encrypted = self._cipher.update(bytes(8 * count))
        return np.frombuffer(encrypted, dtype="<u8").astype(np.uint64)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a keystream cannot be copied or pickled: both copies would draw the same noise")


def derive_key(seed: int) -> bytes:
    """Return the AES key named by a seed: SHA-256 of a label and the seed in decimal."""
    return hashlib.sha256(f"{SEED_LABEL}{int(seed)}".encode()).digest()


# Words fetched at a time: 128 kB stay in cache, and AES needs 20 µs for them.  Results do not depend on it.
CHUNK = 1 << 14


class VectorSampler:
    """A sampler of exact noise from a keystream.

    Guarantees:
        * values depend on the keystream and the sequence of requested (law, scale) only, not on buffer sizes or on
          how requests are divided into calls;
        * no word is used for two values, whichever threads call;
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
        law, scales = Law(law), check_scales(scales)
        if self.private and os.getpid() != self._stream.process:
            # The copy has the same key and would repeat its parent's noise.
            raise CannotError("a noise sampler cannot cross a fork: make one in each process")
        flat = np.ascontiguousarray(scales.reshape(-1))
        out = np.empty(flat.size, dtype=np.int64)
        with self._lock:
            done = 0
            while True:
                done, used = fill(law is Law.GAUSSIAN, flat, out, done, self._unread)
                self._unread = self._unread[used:]
                if done == flat.size:
                    return out.reshape(scales.shape)
                self._unread = np.concatenate([self._unread, self._stream.read(self._chunk)])

    def __reduce__(self) -> NoReturn:
        raise TypeError("a noise sampler is not copied or pickled: the copy would repeat its noise")
