"""Why an expectation does not hold: which part of the run's story belongs under which kind of expectation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from harness.explain.why import MOST, Why, listed
from harness.kube.api.objects import name_of, namespace_of, spec_of
from harness.scenario.language.cases import Case, Entry
from harness.scenario.language.models.base import WORKLOADS, split_reference
from harness.scenario.running.matching import differences
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

if TYPE_CHECKING:
    from harness.trace.facts import EventTold, LogTold

__all__ = ["story_command", "with_reasons"]

_ITEMS = 8
_PODS = 3


def story_command(case: Case) -> str:
    """The command that tells the whole story of a case."""
    return f"harness watch {quote(case.file)} -k {quote(case.name)}"


def with_reasons(run: Run, verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts; those that do not hold say how it came to that, each thing once, and the last of them where there is more."""
    assert run.recording is not None
    reasons = _Reasons(run, Why(run.recording.trace()))
    told: dict[tuple[str, ...], str] = {}
    found: list[Verdict] = []
    for verdict in verdicts:
        lines = () if verdict.holds else tuple(reasons.of(verdict))
        if lines in told:
            lines = (f"as for {told[lines]}",)
        elif lines:
            told[lines] = verdict.label
        found.append(replace(verdict, why=lines))
    last = max((number for number, one in enumerate(found) if not one.holds), default=None)
    if last is not None:
        more = f"all that happened: {story_command(run.case)}"
        found[last] = replace(found[last], why=(*found[last].why, more))
    return tuple(found)


class _Reasons:
    def __init__(self, run: Run, why: Why) -> None:
        self._run = run
        self._why = why

    def of(self, verdict: Verdict) -> list[str]:
        """At most as many lines as anybody reads, the command among them."""
        entries = [one for one in self._run.case.then if verdict.label.startswith(one.label)]
        if not entries:
            return self._unexpected(verdict)
        entry = max(entries, key=lambda one: len(one.label)).inner
        tell: Mapping[str, Callable[[Any, Entry, Verdict], list[str]]] = {
            "pods": self._pods,
            "nodeclaims": self._nodeclaims,
            "node": self._node,
            "events": self._events,
            "log": self._log,
            "azure": self._azure,
            "cost": lambda *_: self._why.machines(),
            "disrupted": lambda *_: self._why.departures(),
            "not_disrupted": lambda *_: self._why.departures(),
            "metric": lambda *_: self._why.claims(),
            "elapsed": lambda *_: self._why.claims(),
            "runaway": lambda *_: self._why.claims(),
            "objects": self._objects,
            "accepted": lambda *_: self._why.rejections(),
            "rejected": lambda *_: self._why.rejections(),
        }
        found = tell.get(entry.expectation.kind)
        return [] if found is None else listed(found(entry.expectation.body, entry, verdict), MOST - 1, "lines")

    def _unexpected(self, verdict: Verdict) -> list[str]:
        if verdict.label in ("unexpected runaway", "unexpected motion"):
            return listed(self._why.claims(), _ITEMS, "NodeClaims")
        return []

    def _pods(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        key, _, name = verdict.label.partition(".pods.")[2].partition(".")
        pods = self._named(name) if name else [_key(pod) for pod in self._run.world.list("Pod")]
        on_nodes = {_key(pod) for pod in self._run.world.list("Pod") if spec_of(pod).get("nodeName")}
        if key == "pending" and (name or not set(pods) - on_nodes):
            return [line for pod in pods[:_PODS] if pod in on_nodes for line in self._why.runs(pod)]
        waiting = [pod for pod in pods if pod not in on_nodes]
        if not waiting:
            return [line for pod in pods[:_PODS] for line in self._why.runs(pod)]
        return self._waiting(waiting)

    def _named(self, name: str) -> list[str]:
        if name.partition("/")[0] in WORKLOADS:
            return [_key(pod) for pod in self._run.pods_of(name)]
        return [name if "/" in name else f"default/{name}"]

    def _waiting(self, pods: Sequence[str]) -> list[str]:
        """What Azure refused first, then Karpenter's sentence with the smallest change that would help."""
        lines = list(dict.fromkeys(line for pod in pods[:_PODS] for line in self._why.waits(pod)))
        if self._run.explainer is None:
            return lines
        from harness.explain.render import as_text

        wanted = set(pods)
        explained = [self._run.explainer.pod(pod) for pod in self._run.world.list("Pod") if _key(pod) in wanted]
        told = [line.rstrip() for line in as_text(explained).splitlines() if line.strip()]
        said = [line for line in lines if " said: " not in line] if told else lines
        return [*said, *told]

    def _nodeclaims(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        pool = body.nodepool
        claims = self._why.claims(lambda fact: pool is None or fact.nodepool == pool)
        refused = self._why.refusals()
        if claims or refused:
            return [*refused, *listed(claims, _ITEMS, "NodeClaims")]
        return self._waiting([_key(pod) for pod in self._run.world.list("Pod") if not spec_of(pod).get("nodeName")])

    def _node(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        nodes, _ = self._run.nodes_of(body.of)
        if not nodes:
            kind, _, name = split_reference(body.of)
            pods = self._named(body.of if kind in WORKLOADS else name) if kind in ("Pod", *WORKLOADS) else []
            return self._waiting(pods) if pods else self._why.claims()
        names = [name_of(node) for node in nodes]
        key = verdict.label.partition(".labels.")[2]
        written = self._why.label(names[0], key) if key and len(names) == 1 else []
        return [*written, *self._why.nodes(names)]

    def _events(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        def fits(event: EventTold) -> bool:
            wanted = {"reason": body.reason, "type": body.type, "message": body.message}
            about = body.of is None or _same(event.object, body.of)
            return about and _fits(wanted, event)

        found = self._why.events(fits)
        return listed(
            found or self._why.events(lambda one: body.of is not None and _same(one.object, body.of)), _ITEMS, "events"
        )

    def _log(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        def fits(line: LogTold) -> bool:
            wanted = {"message": body.message, "level": body.level, "controller": body.controller}
            return _fits(wanted, line)

        return listed(self._why.log(fits), _ITEMS, "lines")

    def _azure(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        from harness.scenario.running.checks.azure import call_differences

        part, _, index = verdict.label.removeprefix(entry.label).removeprefix(".").partition("[")
        if part != "calls":
            return [*self._why.machines(), *self._why.refusals()]
        wanted = body.calls[int(index.rstrip("]"))]
        fitting = {call.number for call in self._run.world.cloud.journal if not call_differences(wanted, call)}
        found = self._why.calls(lambda call: call.number in fitting)
        writes = found or self._why.calls(lambda call: call.method in ("PUT", "DELETE"))
        return listed(writes, _ITEMS, "calls")

    def _objects(self, body: Any, entry: Entry, verdict: Verdict) -> list[str]:
        kind = body.kind or split_reference(body.of)[0]
        if kind in ("NodeClaim", "Node"):
            return listed(self._why.claims(), _ITEMS, "NodeClaims")
        if kind == "Pod":
            return self._pods(body, entry, replace(verdict, label=f"{entry.label}.pods.bound"))
        return self._why.rejections(body.of or "")


def _fits(wanted: Mapping[str, Any], fact: Any) -> bool:
    return not any(differences(value, getattr(fact, key), key) for key, value in wanted.items() if value is not None)


def _same(name: str, wanted: str) -> bool:
    """Whether two references, one with namespace default perhaps, mean the same object."""
    return name.replace("/default/", "/") == wanted.replace("/default/", "/")


def _key(pod: Mapping[str, Any]) -> str:
    return f"{namespace_of(pod) or 'default'}/{name_of(pod)}"
