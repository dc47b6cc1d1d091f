"""The ConfigMap of the expander `priority`, read anew at each scale-up.

Source: autoscaler expander/priority/priority.go (reloadConfigMap, parsePrioritiesYAMLString).
"""

from __future__ import annotations

from typing import Any

from harness.clusterautoscaler.expanders.priority import CONFIG_KEY, CONFIG_MAP, Priorities
from harness.engine.ports import View
from harness.kube.go.pattern_syntax import PatternError
from harness.kube.go.patterns import searcher
from harness.world.cluster_autoscaler.reports import Reports

__all__ = ["read_priorities"]

_NAMESPACE = "kube-system"
_EMPTY = f"priority configuration in {CONFIG_MAP} configmap is empty; please provide valid configuration"


class _Wrong(ValueError):
    """A configuration that cannot be used; the text says why."""


def read_priorities(view: View, reports: Reports) -> Priorities | None:
    """Return the priorities; None, with a warning about the ConfigMap, where they cannot be used."""
    config = view.get("ConfigMap", CONFIG_MAP, _NAMESPACE)
    if config is None:
        return None

    def warn(reason: str, text: str) -> None:
        reports.about(config, reason, text, warning=True)

    data = config.get("data") or {}
    if CONFIG_KEY not in data:
        missing = f"doesn't contain {CONFIG_KEY} key. Ignoring update."
        warn("PriorityConfigMapInvalid", f"Wrong configmap for priority expander, {missing}")
        return None
    try:
        return Priorities(_patterns(str(data[CONFIG_KEY])), warn)
    except _Wrong as error:
        text = f"Wrong configuration for priority expander: {error}. Ignoring update."
        warn("PriorityConfigMapInvalid", text)
        return None


def _patterns(text: str) -> dict[int, list[str]]:
    from harness.reading.yaml_tree import compose
    from harness.reading.yaml_values import kubernetes_value

    if not text:
        raise _Wrong(_EMPTY)
    tree, problems = compose(text, file=CONFIG_MAP)
    value: Any = kubernetes_value(tree)
    if problems or not isinstance(value, dict) or not all(isinstance(names, list) for names in value.values()):
        raise _Wrong(
            "Can't parse YAML with priorities in the configmap: a list of patterns for each number is expected"
        )
    patterns: dict[int, list[str]] = {}
    for rank, names in value.items():
        if not str(rank).lstrip("-").isdecimal():
            raise _Wrong(f"Can't parse YAML with priorities in the configmap: '{rank}' is no number")
        for name in map(str, names):
            try:
                searcher(name)
            except PatternError as error:
                raise _Wrong(f"Can't compile regexp rule for priority {rank} and rule {name}: {error}") from error
        patterns[int(rank)] = [str(name) for name in names]
    return patterns
