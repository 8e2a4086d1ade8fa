"""Two pools of networks, split by family: constants are chosen on *development*, *test* is reported once.

    python bench/pools.py                  a table of both pools
    python bench/pools.py test --only tntp

Generated networks are always there.  Real ones are read from the folders in $HUSHPATH_DATA (several with the
separator of the system's paths), each a file ``NAME.csv`` with the columns source, target, weight and optionally
proxy, and, where places are known, ``NAME.nodes.csv`` with node, x, y.  Edges of a name that ends in ``_directed``
go one way.  ``real_networks.KNOWN`` says to which family and pool a name belongs; an unknown name is a family of its
own, in the test pool unless its folder is called ``development``.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import generated_development
import generated_test
import numpy as np
from generated import Variant
from real_networks import known
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

import hushpath
from hushpath import Network

POOLS = ("development", "test")


@dataclass(frozen=True)
class Case:
    """One network of a pool.  Networks of one family share a generator or an origin."""

    name: str
    family: str
    pool: str
    source: Variant | Path
    relative: str = ""  # a family of the other pool that resembles this one

    @property
    def has_proxy(self) -> bool:
        if isinstance(self.source, Variant):
            return made(self.source).proxy is not None
        with self.source.open() as file:
            return "proxy" in file.readline().strip().split(",")

    @property
    def directed(self) -> bool:
        return made(self.source).directed if isinstance(self.source, Variant) else self.name.endswith("_directed")

    def network(self, proxy: bool) -> Network:
        """Return the network, with its public proxy column or without one."""
        if proxy and not self.has_proxy:
            raise ValueError(f"{self.name} has no proxy")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(self.source, Variant):
                return made(self.source).network(proxy)
            nodes = self.source.with_suffix(".nodes.csv")
            return hushpath.read_network(
                self.source, nodes=nodes if nodes.is_file() else None, proxy="proxy" if proxy else None,
                directed=self.directed, parallel_edges=True,
            )  # fmt: skip


@lru_cache(maxsize=2)
def made(variant):
    return variant.made()


def generated_cases(pool):
    module = generated_development if pool == "development" else generated_test
    relatives = {} if pool == "development" else generated_test.RELATIVES
    return [
        Case(f"generated/{variant.name}", variant.family, pool, variant, relatives.get(variant.family, ""))
        for variant in module.VARIANTS
    ]


def real_cases(pool):
    cases = []
    for folder in filter(None, os.environ.get("HUSHPATH_DATA", "").split(os.pathsep)):
        for path in sorted(Path(folder).glob("*.csv")):
            if path.stem.endswith(".nodes"):
                continue
            it = known(path.stem, "development" if Path(folder).name == "development" else "test")
            if it.pool == pool:
                cases.append(Case(path.stem, it.family, pool, path, it.relative))
    repeated = {case.name for case in cases if sum(other.name == case.name for other in cases) > 1}
    if repeated:
        raise ValueError(f"more than one folder of $HUSHPATH_DATA has {', '.join(sorted(repeated))}")
    return cases


def cases(pool: str) -> list[Case]:
    """Return the networks of a pool, "development" or "test": generated ones, then those in $HUSHPATH_DATA."""
    if pool not in POOLS:
        raise ValueError(f"the pools are {' and '.join(POOLS)}, not {pool!r}")
    return generated_cases(pool) + real_cases(pool)


def hops_across(topology):
    """Return a lower bound of the hop diameter: go three times to the node that is furthest from the last one."""
    n = topology.num_nodes
    steps = coo_array((np.ones(topology.num_edges), (topology.tails, topology.heads)), shape=(n, n)).tocsr()
    node, most = 0, 0
    for _ in range(3):
        hops = shortest_path(steps, directed=False, unweighted=True, indices=node)
        hops[~np.isfinite(hops)] = 0
        node, most = int(hops.argmax()), max(most, int(hops.max()))
    return most


def facts(case):
    """Return a line of the table."""
    net = case.network(proxy=False)
    weights = net.weights.reveal()
    low, middle, high = (f"{value:.3g}" for value in (weights.min(), np.median(weights), weights.max()))
    likeness = ""
    if case.has_proxy:
        proxy = case.network(proxy=True).topology.proxy
        likeness = f"{np.corrcoef(proxy, weights)[0, 1]:.2f}" if proxy.std() > 0 and weights.std() > 0 else "flat"
    return (
        f"{case.name:48} {case.family:22} {case.pool:11} {net.topology.num_nodes:6} {net.topology.num_edges:6} "
        f"{'yes' if case.directed else 'no':8} {likeness or '-':>5} {low:>8} {middle:>8} {high:>8} "
        f"{hops_across(net.topology):5} {100 * np.mean(weights == 0):5.1f}% {case.relative}".rstrip()
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pools", nargs="*", default=list(POOLS))
    parser.add_argument("--only", default="", help="part of the names")
    asked = parser.parse_args()
    print(
        f"{'name':48} {'family':22} {'pool':11} {'nodes':>6} {'edges':>6} directed proxy "
        f"{'min':>8} {'median':>8} {'max':>8}  hops  zeros  relative\n"
        "(proxy: its linear correlation with the weights; relative: a family of development that is alike)"
    )
    for pool in asked.pools:
        found = [case for case in cases(pool) if asked.only in case.name]
        for case in found:
            print(facts(case))
            sys.stdout.flush()
        print(f"{pool}: {len(found)} networks in {len({case.family for case in found})} families\n")


if __name__ == "__main__":
    main()
