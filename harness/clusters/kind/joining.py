"""The join of a node container: kubeadm, and a kubelet that comes up, refuses its flags, or finds that the host lacks something."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from harness.clusters.kind.journals import exhaustion, refusal
from harness.clusters.kind.node import KindNode, NodeError
from harness.clusters.waiting import Patience, poll
from harness.nodes.kubelet import FlagsRefused

__all__ = ["JoinRefused", "await_kubelet", "run_kubeadm_join"]

_DONE = "done"

_LACKING = 20.0
"""Seconds that a kubelet may start in vain for want of a scarce resource of the host."""


class JoinRefused(NodeError, FlagsRefused):
    """A kubelet that does not start with the flags it was given; `reason` is its own sentence."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"the kubelet of {node} refuses its flags: {reason}")
        self.reason = reason


def run_kubeadm_join(node: KindNode, control_plane: KindNode, registered: Callable[[], bool]) -> None:
    """Run kubeadm beside a look at the journal: it would wait for minutes for a kubelet that refuses to start.

    Return when the Node is `registered`. Raises JoinRefused, NodeError, TimedOut.
    """
    command = ("kubeadm", "join", "--config=/kind/kubeadm.conf", "--skip-phases=preflight")
    with ThreadPoolExecutor(1) as pool:
        joined = pool.submit(node.sh, *command)
        try:
            await_kubelet(node, control_plane, joined.done)
        except BaseException:
            node.sh("pkill", "kubeadm", check=False)
            raise
        joined.result()
    # kubeadm is content with a kubelet that has a certificate: its Node comes a moment later
    await_kubelet(node, control_plane, registered)


def await_kubelet(node: KindNode, control_plane: KindNode, done: Callable[[], bool], cursor: str = "") -> None:
    """Wait for a consequence of a starting kubelet; its journal is read from `cursor` on.

    Raises JoinRefused, NodeError, TimedOut.
    """
    patience: Patience | None = None

    def done_or_refused() -> str | None:
        nonlocal patience
        if done():
            return _DONE
        state = node.state()
        if state:
            raise NodeError(state)
        journal = node.kubelet_said(cursor)
        lacking = exhaustion(journal)
        if lacking:  # somebody may be about to give some back
            patience = patience or Patience(_LACKING)
            if patience.passed:
                raise NodeError(f"the kubelet of {node.node_name} does not come up: {lacking}\n{node.journal()}")
        return refusal(journal)

    refused = poll(
        done_or_refused,
        lambda: f"the kubelet of {node.node_name}\n{node.journal()}\n{control_plane.journal('kubelet', 8)}",
        seconds=control_plane.seconds,
        every=0.3,
    )
    if refused != _DONE:
        raise JoinRefused(node.node_name, refused)
