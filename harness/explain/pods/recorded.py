"""The facts in a trace about pods that wait: causes against the sizes, and helpful changes, in the words of `harness explain`."""

from __future__ import annotations

from collections.abc import Iterable

from harness.explain.pods.render import advice_lines, cause_lines
from harness.explain.pods.scheduling import PodExplanation
from harness.trace import Recording

__all__ = ["record_reasons"]

_MORE = " (-v)"  # an option of the terminal


def record_reasons(recording: Recording, explained: Iterable[PodExplanation]) -> None:
    """Pods of which the same is said share a fact; of those that have a Node nothing is told."""
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for explained_pod in explained:
        if explained_pod.state != "bound":
            causes = tuple(line.removeprefix("  ").removesuffix(_MORE) for line in cause_lines(explained_pod))
            alike.setdefault((tuple(advice_lines(explained_pod)), causes), []).append(explained_pod.pod)
    for (lines, causes), pods in alike.items():
        if lines or causes:
            recording.advice(pods, lines, causes)
