"""All topology constraints of a simulation: which groups there are, whom they concern, and what they still allow.

Core ``pkg/controllers/provisioning/scheduling/{topology,topologydomaingroup}.go``.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import RequirementSet
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.pods import Reason, RequirementsIncompatible, TopologyUnsatisfiable
from harness.karpenter.scheduling.snapshot import IGNORE as IGNORE_PREFERENCES
from harness.karpenter.scheduling.topology.group import (
    AFFINITY,
    ANTI_AFFINITY,
    SPREAD,
    TopologyGroup,
)
from harness.karpenter.scheduling.topology.groups import TopologyGroups
from harness.karpenter.scheduling.topology.own_groups import Constraint, OwnGroups, without
from harness.karpenter.scheduling.topology.ties import Ties
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object
from harness.kube.scheduling.taints import Taint

_LONG = 64  # more groups than this are not kept for each step of a relaxation, and more repetitions not written down


class Topology:
    """Finds the groups that concern a pod, narrows a node's requirements by them, and counts each pod that is placed."""

    def __init__(
        self,
        groups: TopologyGroups,
        preference_policy: str,
        rules: SchedulingRules,
        ties: Ties,
    ) -> None:
        self.algebra, self.ties, self._groups = groups.algebra, ties, groups
        self._ignore_preferences = preference_policy == IGNORE_PREFERENCES
        self._cancel = rules.repeated_expressions_cancel
        self.register_host, self.unregister_host = self._groups.register_host, self._groups.unregister_host
        self.register_hosts = self._groups.register_hosts
        self._filtered: dict[tuple[int, int, int, str], bool] = {}
        self._attempted: PodShape | None = None
        self._refusing: dict[tuple[int, int], TopologyGroup] = {}
        self._blocking: Sequence[TopologyGroup] = ()

    # building

    def begin(self, shape: PodShape) -> None:
        """An attempt to place a pod. What blocked the one before blocks this one too, unless it is what was dropped in between."""
        step = shape.step
        carried_on = step is not None and step.constraint is not None and shape.before is self._attempted
        if not carried_on or (self._cancel and shape.repeating):
            self._refusing.clear()
            self._blocking = ()
        self._attempted = shape
        self.reach(shape)

    def reach(self, shape: PodShape) -> None:
        """Finds, and where necessary makes, the groups of a pod; groups count the cluster's pods at the time they are made.

        A deferred pod, which runs on a node that goes away, is one of those that are counted, and repels others already.
        """
        if shape.reached:
            return
        shape.reached = not shape.deferred
        before = shape.before
        if shape.own is None:
            self._step(shape)
        if shape.own is None:
            self._look(shape)
        elif before is not None and before.reached and before.own is shape.own:
            shape.groups = without(before.groups, shape.gone)
        else:
            shape.groups = shape.own.at(shape.steps)
        if before is not None and before.before is not None and len(before.groups) > _LONG:
            before.reached, before.groups = False, ()  # until it is needed again
            if before.step is None or before.step.filters_change:
                before.own = None

    def _step(self, shape: PodShape) -> None:
        """A step that leaves the other constraints in the groups they were in."""
        base, dropped = shape.before, [shape.step]
        if base is not None and self._cancel and shape.repeating:
            dropped.append(base.step)
            base = base.before  # where the number of repetitions is as odd, or even
        if base is None or base.own is None or any(step is None or step.filters_change for step in dropped):
            return
        shape.own, shape.steps, shape.anti = base.own, base.steps + 1, base.anti
        for step in dropped:
            if step is not None and step.constraint is not None:
                shape.gone = base.own.drop(step.constraint, shape.steps)

    def _look(self, shape: PodShape) -> None:
        required = shape.required_anti
        if required:
            tolerations = shape.preferences.tolerations
            owned = (self._groups.repelling(shape.namespace, tolerations, term) for term in required)
            shape.anti = tuple(dict.fromkeys(owned))  # equal terms are one group, and count once
        if shape.deferred:
            return
        pairs: list[tuple[Constraint, TopologyGroup]] = [
            ((SPREAD, id(constraint)), self._groups.spread(shape, constraint))
            for constraint in self._spread_constraints(shape)
        ]
        before, step = shape.before, shape.step
        same = step is not None and step.filters_change  # the affinity terms are still the same
        if same and before is not None and before.own is not None and not before.steps:
            pairs += [pair for pair in before.own.pairs if pair[0][0] != SPREAD]
        else:
            pairs += self._affinity_groups(shape)
        shape.own = OwnGroups(pairs)
        shape.groups = shape.own.sorted

    def _spread_constraints(self, shape: PodShape) -> Iterable[Object]:
        for constraint in shape.preferences.spread:
            if not (self._ignore_preferences and constraint.get("whenUnsatisfiable") != "DoNotSchedule"):
                yield constraint

    def _affinity_groups(self, shape: PodShape) -> Iterable[tuple[Constraint, TopologyGroup]]:
        for kind, terms in self._affinity_terms(shape):
            for term in terms:
                yield (kind, id(term)), self._groups.affinity(shape, kind, term)

    def _affinity_terms(self, shape: PodShape) -> Iterable[tuple[str, Iterable[Object]]]:
        preferences = shape.preferences
        for kind, required, preferred in (
            (AFFINITY, shape.required_pods, preferences.preferred_pods),
            (ANTI_AFFINITY, shape.required_anti, preferences.preferred_anti),
        ):
            yield kind, required
            if not self._ignore_preferences:
                yield kind, [term["podAffinityTerm"] for term in preferred]

    # asking and recording

    def concerns(self, shape: PodShape) -> tuple[TopologyGroup, ...]:
        """The groups that constrain where the pod goes: its own, then those of pods that repel it."""
        return shape.groups + self._groups.counted(shape)[1]

    def blocked(self, groups: Sequence[TopologyGroup]) -> None:
        """Note that these groups leave no in-flight NodeClaim to the pod."""
        self._blocking = groups

    def is_blocked(self, shape: PodShape) -> bool:
        """Return whether these groups still leave no in-flight NodeClaim to the pod."""
        return bool(self._blocking) and all(self._still(shape, group) for group in self._blocking)

    @staticmethod
    def _still(shape: PodShape, group: TopologyGroup) -> bool:
        return group.inverse or (shape.own is not None and shape.own.has(group, shape.steps))

    def narrow(
        self, shape: PodShape, here: RequirementSet, host: Requirement, strict: bool = False, *, new: bool = False
    ) -> RequirementSet | Reason:
        """The node's requirements with the domains that the pod's constraints choose, or why there are none.

        ``host`` is the node's requirement on the hostname, which ``here`` may leave out; ``new`` nodes have one of their own.
        """
        chosen: dict[str, Requirement] = {}
        algebra, items = self.algebra, here.items
        # One new node is as good as another.
        place = here.id, 0 if new and HOSTNAME not in shape.strict.items else id(host)
        concerns: Iterable[TopologyGroup] = self.concerns(shape)
        refusing = self._refusing.get(place)
        if refusing is not None and self._still(shape, refusing):
            concerns = chain((refusing,), concerns)
        for group in concerns:
            key = group.key
            exists = algebra.exists(key)
            pod_domains = shape.strict.items.get(key) or exists
            node_domains = host if key == HOSTNAME else items.get(key) or exists
            selected = group.inverse or group.selects(shape.namespace, shape.labels)
            domains = group.next_domains(selected, pod_domains, node_domains, self.ties)
            if not domains.values:
                self._refusing[place] = group
                return TopologyUnsatisfiable(group, pod_domains, node_domains)
            label = group.label
            narrowed = chosen.get(label) or (host if label == HOSTNAME else items.get(label))
            chosen[label] = domains if narrowed is None else algebra.intersect(domains, narrowed)
        if not chosen:
            return here
        full = {**items, HOSTNAME: host}
        conflict = algebra.conflict(full, chosen, strict)
        if conflict is not None:
            return RequirementsIncompatible("", conflict)
        if HOSTNAME not in items:
            chosen.pop(HOSTNAME, None)
        return algebra.together(here, chosen)

    def record(
        self, shape: PodShape, taints: tuple[Taint, ...], here: RequirementSet, host: Requirement, bit: int = 0
    ) -> None:
        """Count the pod on a node with these requirements; ``bit`` is the node's among the simulation's new ones."""
        for group in self._groups.counted(shape)[0]:
            if group.admits_all or self._admits(group, taints, here, host):
                key = group.key
                requirement = host if key == HOSTNAME else here.items.get(key)
                if requirement is None:
                    continue
                if group.kind == ANTI_AFFINITY:
                    for value in requirement.values:
                        group.record(value, bit)
                elif not requirement.complement and len(requirement.values) == 1:
                    group.record(next(iter(requirement.values)), bit)
        for group in shape.anti:
            requirement = host if group.key == HOSTNAME else here.items.get(group.key)
            if requirement is not None:
                for value in requirement.values:
                    group.record(value, bit)

    def _admits(self, group: TopologyGroup, taints: tuple[Taint, ...], here: RequirementSet, host: Requirement) -> bool:
        pair = (id(group), here.id, id(taints), min(host.values, default=""))
        admits = self._filtered.get(pair)
        if admits is None:
            items = here.items if HOSTNAME in here.items else {**here.items, HOSTNAME: host}
            admits = self._filtered[pair] = group.filter.admits(self.algebra, taints, items)
        return admits
