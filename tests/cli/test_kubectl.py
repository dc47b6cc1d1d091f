"""`kubectl karpenter-explain`: the words of kubectl as those of `harness explain`."""

from __future__ import annotations

import pytest

from harness.kubectl import explained

HERE = ["--kubeconfig", "/there/config"]


@pytest.mark.parametrize(
    ("words", "question"),
    [
        (["web"], ["--pod", "web", *HERE]),
        (["web", "-n", "shop"], ["--pod", "shop/web", *HERE]),
        (["-n=shop", "pod/web"], ["--pod", "pod/shop/web", *HERE]),
        (["deployment/web"], ["--pod", "deployment/web", *HERE]),
        (["shop/web"], ["--pod", "shop/web", *HERE]),
        (["node/aks-1", "--context", "prod"], ["--node", "aks-1", "--context", "prod"]),
        (["web", "-v", "--context=prod"], ["--pod", "web", "-v", "--context=prod"]),
        (["web", "--release", "1.13.1"], ["--pod", "web", "--release", "1.13.1", *HERE]),
    ],
)
def test_words(monkeypatch: pytest.MonkeyPatch, words: list[str], question: list[str]) -> None:
    monkeypatch.setenv("KUBECONFIG", "/there/config:/other")
    assert explained(words) == ["explain", *question]


@pytest.mark.parametrize("words", [[], ["-h"], ["web", "--help"]])
def test_nothing_asked(words: list[str]) -> None:
    assert explained(words) is None
