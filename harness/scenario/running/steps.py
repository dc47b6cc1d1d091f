"""Takes the steps of `when`, one at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.kube.api.objects import name_of, namespace_of, spec_of, status_of
from harness.limits import ALL_STEPS, STEPS, with_remedy
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, ScenarioError
from harness.reading.yaml_values import kubernetes_value
from harness.scenario.language.cases import Case
from harness.scenario.language.core_objects import duration_problems, too_long
from harness.scenario.language.inputs import azure_arguments, timing_arguments
from harness.scenario.language.models.steps import StepMap
from harness.scenario.language.sizes import SCALED, count_of, scale_problem
from harness.scenario.running.agent_pools import change_agent_pool
from harness.scenario.running.applied import applied_manifests
from harness.scenario.running.machines import happen
from harness.scenario.running.operations import existing, operate
from harness.scenario.running.reporting import report_condition, resized, with_resources_of
from harness.scenario.running.run import Refusal, Run

if TYPE_CHECKING:
    from harness.karpenter.validation.rejections import Rejection

__all__ = ["apply_manifest", "settle", "take_step"]


def apply_manifest(run: Run, manifest: Manifest) -> None:
    """Apply one object. Raises ScenarioError for one that only a user's CRDs take."""
    if run.recording is not None:
        mark = manifest.document.position()
        run.recording.place(manifest.reference, mark.file, mark.line)
    problems = list((duration_problems if run.shared.own_crds(run.case) else too_long)(manifest))
    if problems and not run.world.dry_run(manifest.object):
        raise ScenarioError(problems)
    rejections: Sequence[Rejection] = run.world.apply(manifest.object)
    run.refusals += [Refusal(rejection, manifest) for rejection in rejections]


def settle(run: Run) -> None:
    """Let the world come to rest; a runaway or an exhausted bound is noted."""
    settled = run.world.settle(allow_rejections=True)
    if settled.runaway is not None:
        run.runaways.append(settled.runaway)
    if settled.exhausted is not None:
        run.exhausted.append(with_remedy(settled.exhausted, settled.limit))


def take_step(run: Run, step: StepMap | str, mark: Mark) -> bool:
    """Take one step; return whether the world has settled already, as the scenario wants it."""
    if isinstance(step, str):
        settle(run)
        return True
    if step.advance is not None:
        if run.cost_before is None and any(entry.expectation.cost is not None for entry in run.case.then):
            run.cost_before = run.world.cost()
        settled = run.world.advance(step.advance)
        if settled.runaway is not None:
            run.runaways.append(settled.runaway)
        if settled.exhausted is not None:
            how, limit = ("ended early", ALL_STEPS) if settled.limit == ALL_STEPS.name else ("too many steps", STEPS)
            raise ScenarioError([Problem(mark, "when", f"{how}: {settled.exhausted}", limit.hint)])
        return True
    for name in step.apply or ():
        applied = tuple(applied_manifests(run.case, name, own_crds=run.shared.own_crds(run.case)))
        _check_sizes(run, [manifest.object for manifest in applied], mark)
        for manifest in applied:
            apply_manifest(run, manifest)
    for name in step.delete or ():
        for obj in run.matching(name) or [existing(run, name, mark)]:
            run.world.delete(obj["kind"], name_of(obj), obj["metadata"].get("namespace"))
    if step.patch is not None:
        index = run.case.when_marks.index(mark)
        patch = _patch_value(run.case, index)
        _change(run, step.patch.of, mark, patch)
    if step.condition is not None:
        report_condition(run, step.condition, mark)
    if step.scale is not None:
        _change(run, step.scale.of, mark, {"spec": {"replicas": step.scale.replicas}})
    if step.load is not None:
        for name in step.load:
            existing(run, name, mark)
        run.world.change_load(step.load)
    if step.crds is not None:
        run.world.update_crds(run.shared.crd_directories.named(step.crds, run.case.directory))
    if step.timing is not None:
        run.world.change_timing(**timing_arguments(step.timing))
    if step.restart is not None:
        run.world.restart_karpenter()
    for name in step.evict or ():
        _evict(run, name, mark)
    operate(run, step, mark)
    if step.kubernetes is not None:
        run.world.upgrade_kubernetes(step.kubernetes)
    if step.machine is not None:
        happen(run, step.machine, mark)
    if step.agent_pool is not None:
        change_agent_pool(run, step.agent_pool, mark)
    if step.azure is not None:
        run.world.change_azure(azure_arguments(step.azure))
    return False


def _evict(run: Run, reference: str, mark: Mark) -> None:
    for obj in run.matching(reference) or [existing(run, reference, mark)]:
        named = {"Pod": spec_of(obj).get("nodeName"), "NodeClaim": status_of(obj).get("nodeName")}
        node = named.get(obj["kind"], name_of(obj))
        try:
            run.world.evict(str(node or ""))
        except (LookupError, ValueError) as error:
            raise ScenarioError([Problem(mark, "when", f"{reference}: {error}")]) from error


def _patch_value(case: Case, index: int) -> Mapping[str, Any]:
    """Return the patch as kubectl reads the file: a plain number is a number."""
    node = case.given_document.node_at(case.when_paths[index] + ("patch", "to"))
    value: Mapping[str, Any] = kubernetes_value(node)
    return value


def _check_sizes(run: Run, objects: Sequence[Mapping[str, Any]], mark: Mark) -> None:
    """Raise ScenarioError for objects that would exceed the limits."""
    if all(count_of(obj) is None for obj in objects):
        return
    there = [obj for kind in SCALED for obj in run.world.list(kind)]
    if too_many := scale_problem(objects, there, mark, "when"):
        raise ScenarioError([too_many])


def _change(run: Run, reference: str, mark: Mark, patch: Mapping[str, Any]) -> None:
    manifest = run.manifest(reference)
    for obj in run.matching(reference) or [existing(run, reference, mark)]:
        status = patch.get("status")
        if isinstance(status, Mapping):
            run.refused(run.world.report(obj, {"status": status}), reference)
        elsewhere = {key: value for key, value in patch.items() if key != "status" or not isinstance(status, Mapping)}
        if not elsewhere:
            continue
        changed = _merged(obj, elsewhere)
        if obj["kind"] == "Pod" and (sizes := resized(obj, changed)):
            run.refused(run.world.resize(obj, sizes), reference)
            changed = with_resources_of(changed, run.world.get("Pod", name_of(obj), namespace_of(obj)) or obj)
        _check_sizes(run, [changed], mark)
        # as kubectl patch and scale do: writes of controllers meanwhile are no conflict
        changed["metadata"] = {key: value for key, value in changed["metadata"].items() if key != "resourceVersion"}
        for rejection in run.world.apply(changed):
            run.refusals.append(Refusal(rejection, manifest))


def _merged(value: Any, patch: Any) -> Any:
    """Return a JSON merge patch (RFC 7386). Its nulls stay, so that the sent object removes fields of others, too."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(value) if isinstance(value, Mapping) else {}
    return result | {key: _merged(result.get(key), item) for key, item in patch.items()}
