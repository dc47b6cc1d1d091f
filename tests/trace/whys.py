"""For every kind of expectation some that do not hold, with what stands under them: `whys.yaml`, made by `python -m tests.trace.whys`.

All are asked of one run, so that a further row costs next to nothing.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from harness.explain.traces.why import Why
from harness.scenario.expectations import check
from harness.scenario.language.files import load
from harness.scenario.running.reasons import lines_under
from harness.scenario.running.runner import Runner
from tests.trace.conftest import SPOT

__all__ = ["STORED", "Asked", "found", "stored"]

STORED = Path(__file__).with_name("whys.yaml")

_REFUSED = """\
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: closed}
spec:
  template:
    metadata: {labels: {kubernetes.azure.com/foo: bar}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 700}}}]}
"""

Asked = tuple[str, dict[str, list[str]]]
"""An entry of `then`, and the lines under each of its verdicts, by the verdict's name."""


def stored() -> dict[str, dict[str, list[str]]]:
    """Each entry with its lines, as they are kept."""
    found: dict[str, dict[str, list[str]]] = yaml.safe_load(STORED.read_text())
    return found


def found(entries: list[str]) -> Iterator[Asked]:
    """The lines under each entry now. Raises AssertionError for one that holds."""
    then = "".join(f"- {entry}\n" for entry in entries)
    given = "given:\n  cluster: {nodeOs: [linux, windows]}\n"
    text = SPOT.replace("given:\n", given).replace("then: [{pods: {bound: 1}}]", f"then:\n{then.rstrip()}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "case.yaml")
        path.write_text(text + _REFUSED)
        (case,) = load(path, path.name)[0].cases
        run, _ = Runner().examine(case, recorded=True, explained=True)
    assert run.recording is not None
    why = Why(run.recording.trace())
    for entry, said in zip(case.then, entries, strict=True):
        failed = [verdict for verdict in check(entry, run) if not verdict.holds]
        assert failed, f"holds: {said}"
        lines = {verdict.label.partition(".")[2]: _plain(lines_under(run, why, verdict)) for verdict in failed}
        yield said, lines


def _plain(lines: list[str]) -> list[str]:
    """Without the names that chance draws."""
    return [re.sub(r"(default-)[a-z0-9]{5}\b", r"\1X", line) for line in lines]


def main() -> None:
    """Writes the file anew, for the entries that it has."""

    class Long(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    told = dict(found(list(stored())))
    head = "# What stands under expectations of every kind that do not hold.\n"
    head += "# Made by python -m tests.trace.whys: add `entry: {}`, run it, read it.\n"
    STORED.write_text(head + yaml.dump(told, Dumper=Long, width=10_000, sort_keys=False, allow_unicode=True))


if __name__ == "__main__":
    main()
