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
    """The process's own command. Returns an exit code as `harness explain` does."""
    from harness.__main__ import main as run

    arguments = explained(sys.argv[1:])
    if arguments is None:
        print_lines(USAGE)
        return 0 if {"-h", "--help"} & set(sys.argv[1:]) else 2
    sys.argv[1:] = arguments
    return run()


def explained(arguments: Sequence[str]) -> list[str] | None:
    """The same question as `harness explain` takes it; None where nothing is asked.

    Without a context or a kubeconfig it is about the current context, and without a namespace about the context's, as kubectl's own
    commands are.
    """
    from os import environ
    from os.path import expanduser

    rest: list[str] = []
    namespace, asked, said = "", "", {}
    words = iter(arguments)
    for word in words:
        name, sign, value = word.partition("=")
        if word in ("-h", "--help"):
            return None
        if name in ("-n", "--namespace"):
            namespace = value if sign else next(words, "")
        elif word.startswith("-"):
            rest += [word] if sign or word in ("-v", "--verbose") else [word, next(words, "")]
            said[name] = value if sign else rest[-1]
        elif not asked:
            asked = word
        else:
            rest.append(word)
    if not asked:
        return None
    if not {"--context", "--kubeconfig"} & said.keys():
        said["--kubeconfig"] = environ.get("KUBECONFIG") or expanduser("~/.kube/config")
        rest += ["--kubeconfig", said["--kubeconfig"]]
    kind, slash, named = asked.partition("/")
    known = next((one for one, short in _KINDS.items() if slash and kind.lower() in (one, f"{one}s", short)), "")
    if known == "node":
        return ["explain", "--node", named, *rest]
    if slash and not known:
        return ["explain", "--pod", asked, *rest]
    namespace = namespace or _namespace(said)
    if slash:
        return [
            "explain",
            "--pod",
            f"{known}/{namespace}/{named}" if namespace and "/" not in named else f"{known}/{named}",
            *rest,
        ]
    return ["explain", "--about", f"{namespace}/{asked}" if namespace else asked, *rest]


def _namespace(said: Mapping[str, str]) -> str:
    """The namespace of the context; "" where it names none, or cannot be read: `harness explain` says why."""
    from pathlib import Path

    from harness.clusters.kubeconfig import ClientMissing, KubeconfigError, namespace_of_context

    try:
        return namespace_of_context(
            Path(said["--kubeconfig"]) if "--kubeconfig" in said else None, said.get("--context")
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
"""What can be asked about, and kubectl's short names."""
