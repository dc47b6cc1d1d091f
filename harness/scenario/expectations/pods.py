"""`pods`: running pods, waiting ones, and Karpenter's sentence about these."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import short_name, shorter, spec_of
from harness.reading.problems import Mark, did_you_mean
from harness.scenario.expectations.failure import ITEMS, PODS, FailedExpectation, pod_key
from harness.scenario.expectations.matching import Difference, count_differences, differences
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from harness.scenario.language.models.base import WORKLOADS, Body, Text
from harness.scenario.language.models.matchers import CountMatch, TextMatch

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["Pods", "check", "failure_lines", "lines_of_running", "lines_of_waiting", "pods_named", "sentence"]


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[
    list[Text],
    BeforeValidator(_listed),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": "^[A-Za-z]"}, {"type": "array", "items": {"type": "string"}}]}
    ),
]


def _names_shape(value: Any) -> str:
    if isinstance(value, list) or (isinstance(value, str) and value[:1].isalpha()):
        return "names"
    if isinstance(value, dict) and not value.keys() <= {"atLeast", "atMost", "above", "below"}:
        return "table"
    return "count"


class Pods(Body):
    """The pods that run and those that do not, with Karpenter's own sentence.

    Names are `name`, `namespace/name`, or a workload such as `Deployment/web`, which stands for all of its pods.
    """

    bound: (
        Annotated[
            Annotated[CountMatch, Tag("count")]
            | Annotated[Names, Tag("names")]
            | Annotated[dict[Text, Text], Tag("table")],
            Discriminator(_names_shape),
        ]
        | None
    ) = Field(None, description="How many, which (a name or several), or which on which NodePool ({web: default}).")
    pending: (
        Annotated[
            Annotated[CountMatch, Tag("count")]
            | Annotated[Names, Tag("names")]
            | Annotated[dict[Text, TextMatch], Tag("table")],
            Discriminator(_names_shape),
        ]
        | None
    ) = Field(None, description="How many, which (a name or several), or which for which reason: Karpenter's sentence.")

    @model_validator(mode="after")
    def _given(self) -> Self:
        if self.bound is None and self.pending is None:
            raise PydanticCustomError("no_condition", "at least one of bound, pending is expected")
        return self

    def workloads(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield the place and the reference of each workload in both fields: `Kind/name`, which a capital tells from the name of a pod."""
        for key, names in (("bound", self.bound), ("pending", self.pending)):
            if isinstance(names, (list, dict)):
                for index, name in enumerate(names):
                    if name[:1].isupper() and "/" in name:
                        yield (key, index if isinstance(names, list) else name), name


def check(body: Pods, entry: Entry, run: "Run") -> Iterator[Verdict]:
    """Yield one verdict for each count, and for each pod that is named."""
    pods = {short_name(pod): pod for pod in run.world.list("Pod")}
    bound = {name: pod for name, pod in pods.items() if pod.get("spec", {}).get("nodeName")}
    waiting = {name: pod for name, pod in pods.items() if name not in bound}
    for key, wanted, there in (("bound", body.bound, bound), ("pending", body.pending, waiting)):
        if wanted is None:
            continue
        label = f"{entry.label}.{key}"
        if not wanted or not isinstance(wanted, (list, dict)):
            count = 0 if isinstance(wanted, (list, dict)) else wanted
            wrong = count_differences(count, len(there))
            yield Verdict.compared(
                label, entry.mark(key), [replace(difference, note=_waiting(waiting, run)) for difference in wrong]
            )
        for index, name in enumerate(wanted if isinstance(wanted, (list, dict)) else ()):
            mark = entry.mark(key, index if isinstance(wanted, list) else name)
            value = wanted[name] if isinstance(wanted, dict) else None
            if name.startswith(_WORKLOAD):
                yield _workload(f"{label}.{name}", mark, name, key, value, run)
            elif name.removeprefix("default/") not in there:
                yield Verdict.failed(f"{label}.{name}", mark, f"Pod/{name} {key}", _state(name, pods, run))
            else:
                pod = there[name.removeprefix("default/")]
                yield Verdict.compared(f"{label}.{name}", mark, _differences(key, value, pod, run))


def _waiting(pods: Mapping[str, Any], run: "Run") -> str:
    """Return the first pods that wait, each with its reason; empty when none does."""
    reasons = [f"{name}: {sentence(pod, run) or _schedulers(pod, run)}" for name, pod in list(pods.items())[:_FEW]]
    more = f"; and {len(pods) - _FEW} more" if len(pods) > _FEW else ""
    return f"pending are {'; '.join(reasons)}{more}" if reasons else ""


_FEW = 3

_WORKLOAD = tuple(f"{kind}/" for kind in WORKLOADS)


def _workload(label: str, mark: Mark, name: str, key: str, value: Any, run: "Run") -> Verdict:
    """Return the verdict on all pods of a workload: all are bound, or pending, and each as expected."""
    pods = run.pods_of(name)
    if not pods:
        return Verdict.failed(label, mark, f"pods of {name} {key}", "it has no pods")
    others = [pod for pod in pods if bool(pod.get("spec", {}).get("nodeName")) != (key == "bound")]
    if others:
        first = short_name(others[0])
        actual = f"{len(others)} of its {len(pods)} are not: {first}, {_state(first, {first: others[0]}, run)}"
        return Verdict.failed(label, mark, f"all pods of {name} {key}", actual)
    for pod in pods:
        wrong = _differences(key, value, pod, run)
        if wrong:
            note = f"pod {short_name(pod)}"
            return Verdict.compared(
                label,
                mark,
                [Difference(difference.path, difference.expected, difference.actual, note) for difference in wrong],
            )
    return Verdict(label, mark)


def _differences(key: str, value: Any, pod: Mapping[str, Any], run: "Run") -> list[Difference]:
    if value is None:
        return []
    return differences(value, _nodepool(pod, run) if key == "bound" else sentence(pod, run))


def _nodepool(pod: Mapping[str, Any], run: "Run") -> str:
    node = run.world.get("Node", pod["spec"]["nodeName"], "")
    labels = (node or {}).get("metadata", {}).get("labels") or {}
    return str(labels.get(NODEPOOL, "a Node of no NodePool"))


def sentence(pod: Mapping[str, Any], run: "Run") -> str:
    """Return Karpenter's sentence why it cannot schedule this pod; empty when there is none."""
    return _last_word(pod, run, "karpenter").removeprefix("Failed to schedule pod, ")


def _schedulers(pod: Mapping[str, Any], run: "Run") -> str:
    words = _last_word(pod, run, "default-scheduler")
    return f"Karpenter said nothing, kube-scheduler {words}" if words else "nobody said why"


def _last_word(pod: Mapping[str, Any], run: "Run", source: str) -> str:
    name, namespace = pod["metadata"]["name"], pod["metadata"].get("namespace") or "default"
    for event in reversed(run.world.events):
        about = event.object.kind == "Pod" and (event.object.name, event.object.namespace) == (name, namespace)
        if about and event.reason == "FailedScheduling" and event.source == source:
            return event.message
    return ""


def _state(name: str, pods: Mapping[str, Any], run: "Run") -> str:
    pod = pods.get(name.removeprefix("default/"))
    if pod is None:
        owners = [f"{kind}/{name}" for kind in WORKLOADS if run.find(f"{kind}/{name}") is not None]
        hint = f"all those of a workload are '{owners[0]}'" if owners else did_you_mean(name, pods)
        return f"no such pod; {hint}" if hint else "no such pod"
    if pod.get("spec", {}).get("nodeName"):
        return f"it runs on {pod['spec']['nodeName']} of NodePool {_nodepool(pod, run)}"
    reason = sentence(pod, run)
    return f"it is pending: {reason}" if reason else "it is pending"


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return, for pods that wait, Karpenter's and Azure's reasons and the change that would help; for running ones, the decision."""
    key, _, name = failure.part.partition(".")
    pods = pods_named(failure, name) if name else _all(failure)
    on_nodes = {pod_key(pod) for pod in failure.run.world.list("Pod") if spec_of(pod).get("nodeName")}
    if key == "pending" and (name or not set(pods) - on_nodes):
        lines = lines_of_running(failure, [pod for pod in pods if pod in on_nodes])
        return lines or lines_of_waiting(failure, pods)
    waits = [pod for pod in pods if pod not in on_nodes]
    lines = lines_of_waiting(failure, waits) if waits else lines_of_running(failure, pods)
    lines = [*_refused(failure, name), *lines]
    return lines or [f"nobody applied or made Pod/{shorter(pod)}" for pod in pods[:PODS]]


def _refused(failure: FailedExpectation, name: str) -> list[str]:
    """Return why workloads get fewer pods than they want: all of them, or the one in question."""
    from harness.explain.pods.unused import refused_lines

    kind, bare = name.partition("/")[0], name.rpartition("/")[2]
    return [line for line in refused_lines(failure.run.world) if not name or line.startswith(f"{kind}/{bare} ")]


def _all(failure: FailedExpectation) -> list[str]:
    """Return the pods that the expectation names, or else all of them."""
    parts = (getattr(failure.body, key, None) for key in ("bound", "pending"))
    names = [name for part in parts if isinstance(part, (list, dict)) for name in part]
    return [pod for name in names for pod in pods_named(failure, name)] or [
        pod_key(pod) for pod in failure.run.world.list("Pod")
    ]


def pods_named(failure: FailedExpectation, name: str) -> list[str]:
    """Return the pods that a name or a workload stands for, as `namespace/name`."""
    if name.partition("/")[0] in WORKLOADS:
        return [pod_key(pod) for pod in failure.run.pods_of(name)]
    return [name if "/" in name else f"default/{name}"]


def lines_of_running(failure: FailedExpectation, pods: Sequence[str]) -> list[str]:
    """Return the Nodes of pods, with the time and the reason of the binding."""
    lines = [line for pod in pods[:PODS] for line in failure.why.runs(pod)]
    return [*dict.fromkeys(lines), *([f"… and {len(pods) - PODS} more pods"] if len(pods) > PODS else [])]


def lines_of_waiting(failure: FailedExpectation, pods: Sequence[str]) -> list[str]:
    """Return Azure's refusals first, then Karpenter's sentence with the smallest change that would help; for gone pods, the time of their
    end."""
    there = {pod_key(pod) for pod in failure.run.world.list("Pod")}
    gone = [line for pod in pods if pod not in there for line in failure.why.gone(pod)][:ITEMS]
    lines = list(dict.fromkeys(line for pod in pods[:PODS] if pod in there for line in failure.why.waits(pod)))
    if failure.run.explainer is None:
        return [*gone, *lines]
    from harness.explain.pods.render import as_text

    wanted = set(pods)
    explained = [failure.run.explainer.pod(pod) for pod in failure.run.world.list("Pod") if pod_key(pod) in wanted]
    explanation = [line.rstrip() for line in as_text(explained).splitlines() if line.strip()] if explained else []
    own_lines = [line for line in lines if " said: " not in line] if explanation else lines
    return [*gone, *own_lines, *explanation]
