"""`kubectl karpenter-explain POD|NODE`: the answers of `harness explain` about the cluster of kubectl's context."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["explained", "main"]

USAGE = """kubectl karpenter-explain POD|NODE [-n NAMESPACE] [--context NAME] [--kubeconfig FILE] [options of harness explain]

  POD    web, shop/web, pod/web, deployment/web: why it is where it is, or nowhere, and what would help
  NODE   node/aks-default-x7k2p: why it is not removed, or what Karpenter would do with it

The cluster is only read."""


def main() -> int:
    """The process's own command. Returns an exit code as `harness explain` does."""
    from harness.__main__ import main as run

    arguments = explained(sys.argv[1:])
    if arguments is None:
        print(USAGE)
        return 0 if {"-h", "--help"} & set(sys.argv[1:]) else 2
    sys.argv[1:] = arguments
    return run()


def explained(arguments: Sequence[str]) -> list[str] | None:
    """The same question as `harness explain` takes it; None where nothing is asked.

    Without a context or a kubeconfig it is about the current context, as kubectl's own commands are.
    """
    from os import environ
    from pathlib import Path

    rest: list[str] = []
    namespace, asked = "", ""
    words = iter(arguments)
    for word in words:
        name, sign, value = word.partition("=")
        if word in ("-h", "--help"):
            return None
        if name in ("-n", "--namespace"):
            namespace = value if sign else next(words, "")
        elif word.startswith("-"):
            rest += [word] if sign or word in ("-v", "--verbose") else [word, next(words, "")]
        elif not asked:
            asked = word
        else:
            rest.append(word)
    if not asked:
        return None
    kind, slash, named = asked.partition("/")
    if kind.lower() in ("node", "no", "nodes"):
        question = ["--node", named]
    elif slash and kind.lower() in _KINDS:
        question = ["--pod", f"{kind}/{namespace}/{named}" if namespace else asked]
    else:
        question = ["--pod", f"{namespace}/{asked}" if namespace and not slash else asked]
    if not any(one.partition("=")[0] in ("--context", "--kubeconfig") for one in rest):
        first = environ.get("KUBECONFIG", "").split(":")[0]
        rest += ["--kubeconfig", first or str(Path.home() / ".kube" / "config")]
    return ["explain", *question, *rest]


_KINDS = frozenset({"pod", "deployment", "statefulset", "daemonset", "replicaset", "job"})
