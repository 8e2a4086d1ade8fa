"""What tests of the server share: an application asked without a network, and a release with places on Earth."""

import asyncio

import httpx
import numpy as np
from noisy_grid import grid

import hushpath
from hushpath import Network
from hushpath.serve import make_app


class Client:
    """Asks an application as a browser would."""

    def __init__(self, releases, limits=None, **more):
        self.app = make_app(releases, limits, **more)
        self.endpoints = self.app.state.endpoints

    def ask(self, method, path, **more):
        async def one():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)  # none may reach a server and its log
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **more)

        return asyncio.run(one())

    def get(self, path, **params):
        return self.ask("GET", path, params=params or None)

    def post(self, path, **body):
        return self.ask("POST", path, json=body)


def city(side=6, **more):
    """A grid of streets in Berlin, and one house that no street reaches."""
    plain = grid(side).topology
    places = np.r_[np.c_[13.3, 52.5] + plain.coordinates * (0.01, 0.006), [[14.5, 53.0]]]
    weights = 20 + 10 * np.sin(np.arange(plain.num_edges))
    net = Network.build(range(side * side + 1), plain.tails, plain.heads, weights, coordinates=places)
    asked = dict(epsilon=2.0, unit=1.0, max_weight=100.0, mechanism="input")
    asked["quantity"] = hushpath.Quantity("travel time", "seconds")
    rel = hushpath.release(net, **asked | more)
    return rel.with_decoder(estimator="clip") if rel.decoder.searches else rel


def with_periods():
    """A release of trips in the morning and in the evening."""
    import pandas as pd
    from trip_tables import copies

    topology = copies(1)
    ends = [(topology.labels[a], topology.labels[b]) for a, b in zip(topology.tails, topology.heads, strict=True)]
    rows = [
        (f"p{i}", tail, head, float(seconds * (1 + late)), "pm" if late else "am")
        for i, ((tail, head), seconds) in enumerate(zip(ends * 5, list(topology.proxy) * 5, strict=True))
        for late in (False, True)
    ]
    table = pd.DataFrame(rows, columns=["person", "from", "to", "seconds", "period"])
    trips = hushpath.read_trips(table, topology, person="person", edge=("from", "to"), seconds="seconds",
                                period="period", periods=["am", "pm"])  # fmt: skip
    return hushpath.release_trips(trips, epsilon=5.0, delta=1e-6, protects="person", low=0.5, high=6, seed=1)
