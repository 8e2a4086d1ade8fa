"""What tests of commands share: a small city and the trips of its people, in files."""

import numpy as np
import pandas as pd
import pytest
from named_graphs import grid_ends

SIDE, PEOPLE, PASSES = 6, 2000, 20_000


@pytest.fixture(scope="session")
def city_files(tmp_path_factory):
    """``net.csv``: a directed grid; ``trips.parquet``: who passed which edge, on five days, in the morning or not."""
    folder, rng = tmp_path_factory.mktemp("city"), np.random.default_rng(4)
    ends = grid_ends(SIDE, SIDE)
    ends = np.concatenate([ends, ends[:, ::-1]])
    free = rng.uniform(20, 60, len(ends)).round(1)
    names = np.array([f"n{i}" for i in range(SIDE * SIDE)])
    network = dict(source=names[ends[:, 0]], target=names[ends[:, 1]], free_flow=free)
    bounds = dict(least=(free / 2).round(2), most=6 * free)
    pd.DataFrame(network | bounds).to_csv(folder / "net.csv", index=False)
    edge, period = rng.integers(0, len(ends), PASSES), rng.integers(0, 2, PASSES)
    days = pd.to_datetime([f"2024-{month:02}-15" for month in range(1, 6)]).to_numpy("datetime64[s]")
    pd.DataFrame({
        "who": rng.integers(0, PEOPLE, PASSES), "date": rng.choice(days, PASSES),
        "trip": np.arange(PASSES), "from": names[ends[edge, 0]], "to": names[ends[edge, 1]],
        "seconds": free[edge] * np.where(period == 0, 1.2, 2.4) * rng.gamma(20, 1 / 20, PASSES),
        "period": np.array(["am", "pm"])[period],
    }).to_parquet(folder / "trips.parquet")  # fmt: skip
    return folder


@pytest.fixture
def city(city_files, tmp_path, monkeypatch):
    """A folder with these files, to run commands in."""
    for name in ("net.csv", "trips.parquet"):
        (tmp_path / name).symlink_to(city_files / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path
