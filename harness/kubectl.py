"""`kubectl karpenter-explain POD|NODE`: the answers of `harness explain` about the cluster of kubectl's context."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from plainlines import print_lines

__all__ = ["explained", "main"]

USAGE = """kubectl karpenter-explain POD|NODE [-n NAMESPACE] [--context NAME] [--kubeconfig FILE] [options of harness explain]

  POD    web, shop/web, pod/web, deployment/web: why it is where it is, or nowhere, and what would help
  NODE   aks-default-x7k2p, node/aks-default-x7k2p: why it is not removed, or what Karpenter would do with it

The cluster is only read."""


def main() -> int:
    """Run as the process's own command. Return an exit code as `harness explain` does."""
    from harness.__main__ import main as run

    arguments = explained(sys.argv[1:])
    if arguments is None:
        print_lines(USAGE)
        return 0 if {"-h", "--help"} & set(sys.argv[1:]) else 2
    sys.argv[1:] = arguments
    return run()


def explained(arguments: Sequence[str]) -> list[str] | None:
    """Return the arguments of `harness explain` for the same question; None for an empty one.

    Without a context or a kubeconfig it is about the current context, and without a namespace about the context's, as
    kubectl's own commands are.
    """
    from os import environ
    from os.path import expanduser

    rest: list[str] = []
    namespace, target, options = "", "", {}
    words = iter(arguments)
    for word in words:
        name, sign, value = word.partition("=")
        if word in ("-h", "--help"):
            return None
        if name in ("-n", "--namespace"):
            namespace = value if sign else next(words, "")
        elif word.startswith("-"):
            rest += [word] if sign or word in ("-v", "--verbose", "--watch") else [word, next(words, "")]
            options[name] = value if sign else rest[-1]
        elif not target:
            target = word
        else:
            rest.append(word)
    if not target:
        return None
    if not {"--context", "--kubeconfig"} & options.keys():
        options["--kubeconfig"] = environ.get("KUBECONFIG") or expanduser("~/.kube/config")
        rest += ["--kubeconfig", options["--kubeconfig"]]
    kind, slash, named = target.partition("/")
    kind_name = next(
        (
            kind_known
            for kind_known, short in _KINDS.items()
            if slash and kind.lower() in (kind_known, f"{kind_known}s", short)
        ),
        "",
    )
    if kind_name == "node":
        return ["explain", "--node", named, *rest]
    if slash and not kind_name:
        return ["explain", "--pod", target, *rest]
    namespace = namespace or _namespace(options)
    if slash:
        return [
            "explain",
            "--pod",
            f"{kind_name}/{namespace}/{named}" if namespace and "/" not in named else f"{kind_name}/{named}",
            *rest,
        ]
    return ["explain", "--about", f"{namespace}/{target}" if namespace else target, *rest]


def _namespace(options: Mapping[str, str]) -> str:
    """Return the namespace of the context; "" where it has none, or cannot be read: `harness explain` reports why."""
    from pathlib import Path

    from harness.clusters.kubeconfig import ClientMissing, KubeconfigError, namespace_of_context

    try:
        return namespace_of_context(
            Path(options["--kubeconfig"]) if "--kubeconfig" in options else None, options.get("--context")
        )
    except (ClientMissing, KubeconfigError):
        return ""


_KINDS = {
    "pod": "po",
    "node": "no",
    "deployment": "deploy",
    "statefulset": "sts",
    "daemonset": "ds",
    "replicaset": "rs",
    "job": "",
}
"""Kinds that a question can be about, with kubectl's short names."""
