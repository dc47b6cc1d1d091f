"""The same case on the memory cluster and on a real API server leaves traces that say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.clusters.remote.attaching import attach
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.scenario.running.tracing import finished
from harness.trace import Trace
from harness.trace.comparing import compare_traces
from tests.clusters.conftest import RealClusters
from tests.trace.conftest import SPOT

pytestmark = [pytest.mark.real_cluster, pytest.mark.smoke]


def test_a_trace_of_an_api_server_differs_in_nothing(real_clusters: RealClusters, tmp_path: Path) -> None:
    cluster = real_clusters.get("apiserver")
    path = tmp_path / "case.yaml"
    path.write_text(SPOT)
    (case,) = load(path, path.name)[0].cases

    def traced(**overrides: object) -> Trace:
        run, verdicts = Runner(kubernetes=cluster.version(), **overrides).examine(case, recorded=True)
        return finished(run, verdicts, "passed")

    found = compare_traces(traced(), traced(cluster=attach(cluster)))
    assert [what for what, _, _ in found.situations] == ["cluster"]
    assert list(found.differences) == []
