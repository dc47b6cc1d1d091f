"""A small read, the list of sizes and a launch over HTTP; `python -m benchmarks.serving --moto PYTHON` has moto's server beside it."""

from __future__ import annotations

from benchmarks.serving import FakeAzure, figures


def test_served_calls() -> None:
    for row, one in figures(FakeAzure(), calls=1000).items():
        print(f"{row}: {one.cpu:.3f} ms of CPU, {one.best:.3f} ms at best, median {one.median:.3f} ms")
        assert one.best > 0
