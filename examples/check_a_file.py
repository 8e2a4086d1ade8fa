"""Check a release from elsewhere: who published it, what it promises, and that no byte has changed.

The first part plays the publisher.  A signature says who vouches for a file; that the noise in it was drawn honestly
still rests on trust in the publisher.
"""

from pathlib import Path

import hushpath


def publish() -> None:
    """A ring road of 40 junctions, released and signed; `publisher.key` stays at home."""
    junctions = list(range(40))
    seconds = [30 + 7 * (junction % 5) for junction in junctions]
    net = hushpath.Network.build(junctions, junctions, junctions[1:] + junctions[:1], seconds)
    hushpath.make_keys("publisher")
    hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=60).save("ring.hush", sign="publisher.key")


def refused(path: str) -> str:
    """Why this file is not what its signature says; empty if it is."""
    try:
        hushpath.load(path, verify="publisher.pub")
    except hushpath.HushpathError as error:
        return str(error)
    return ""


publish()
rel = hushpath.load("ring.hush", verify="publisher.pub")  # raises unless signed by this very key
said = rel.statement
print(said)
print(f"released with epsilon = {said.epsilon:.3g}, unit {said.unit.l1:g}; 0 to 20: {rel.distance(0, 20):.0f} s")
assert said.private
assert not said.reasons
assert said.epsilon <= said.budget_epsilon == 1
assert refused("ring.hush") == ""

changed = bytearray(Path("ring.hush").read_bytes())
changed[-1] ^= 1
Path("forged.hush").write_bytes(changed)
Path("forged.hush.sig").write_bytes(Path("ring.hush.sig").read_bytes())
print("one bit changed:", refused("forged.hush"))
assert "not a signature of" in refused("forged.hush")
