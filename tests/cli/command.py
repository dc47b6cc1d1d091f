"""Calls of subcommands in this process, and manifests to give them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.cli import main

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    metadata: {labels: {team: blue}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
"""


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, err = call(capsys, *arguments, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)
