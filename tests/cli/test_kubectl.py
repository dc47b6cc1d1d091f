"""`kubectl karpenter-explain`: the words of kubectl as those of `harness explain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.clusters.client.access import kubeconfig_of
from harness.kubectl import explained

HERE = ["--kubeconfig", "/there/config:/other"]


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (["web"], ["--about", "web", *HERE]),
        (["web", "-n", "shop"], ["--about", "shop/web", *HERE]),
        (["-n=shop", "pod/web"], ["--pod", "pod/shop/web", *HERE]),
        (["deployment/web"], ["--pod", "deployment/web", *HERE]),
        (["deploy/web", "--namespace", "shop"], ["--pod", "deployment/shop/web", *HERE]),
        (["pods/web"], ["--pod", "pod/web", *HERE]),
        (["shop/web"], ["--pod", "shop/web", *HERE]),
        (["node/aks-1", "--context", "prod"], ["--node", "aks-1", "--context", "prod"]),
        (["web", "-v", "--context=prod"], ["--about", "web", "-v", "--context=prod"]),
        (["--watch", "web"], ["--about", "web", "--watch", *HERE]),
        (["--watch=30s", "web"], ["--about", "web", "--watch=30s", *HERE]),
        (["web", "--release", "1.13.1"], ["--about", "web", "--release", "1.13.1", *HERE]),
    ],
)
def test_words(monkeypatch: pytest.MonkeyPatch, words: list[str], question: list[str]) -> None:
    monkeypatch.setenv("KUBECONFIG", "/there/config:/other")
    assert explained(words) == ["explain", *question]


def test_the_namespace_of_the_context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As `kubectl get pod web` takes it, out of several files, too."""
    pytest.importorskip("kubernetes")
    config = kubeconfig_of("prod", {"server": "https://127.0.0.1:1"}, {})
    config["contexts"][0]["context"]["namespace"] = "shop"
    (tmp_path / "config").write_text(json.dumps(config))
    files = f"{tmp_path}/none:{tmp_path}/config"
    monkeypatch.setenv("KUBECONFIG", files)
    assert explained(["web"]) == ["explain", "--about", "shop/web", "--kubeconfig", files]
    assert explained(["sts/db", "--context", "prod"]) == [
        "explain",
        "--pod",
        "statefulset/shop/db",
        "--context",
        "prod",
    ]


@pytest.mark.parametrize("words", [[], ["-h"], ["web", "--help"]])
def test_nothing_asked(words: list[str]) -> None:
    assert explained(words) is None
