"""Misspelt kinds and API groups, as opposed to those that only the simulation does without."""

from __future__ import annotations

from harness.kube.api.builtin_kinds import BUILT_IN_GROUPS, NOT_KEPT, kept_as
from harness.kube.api.kinds import KINDS, served
from harness.reading.manifests import Manifest
from harness.reading.problems import Problem, did_you_mean

__all__ = ["kind_mistake"]

_ALIKE = 0.85  # groups that differ by a letter or two: karpenter.sk, but not another cloud's karpenter.k8s.aws


def kind_mistake(manifest: Manifest) -> Problem | None:
    """Return the mistake in a kind that is not served; None where there may be such a kind, and for served kinds."""
    api_version = str(manifest.object["apiVersion"])
    if served(api_version, manifest.kind) is not None:
        return None
    group = api_version.rpartition("/")[0]
    kind = manifest.kind
    served_version = kept_as(group, kind)

    def problem(field: str, message: str, hint: str = "") -> Problem:
        return Problem(manifest.document.position((field,)), field, message, hint)

    if served_version is not None:
        return problem("apiVersion", f"{kind} is not served as {api_version}", f"it is as {served_version}")
    if kind in NOT_KEPT.get(group, ()):
        return None
    own = {kind.kind for kind in KINDS.values() if kind.group == group}
    if own or group in BUILT_IN_GROUPS:
        elsewhere = KINDS.get(kind)
        if elsewhere is not None:
            return problem("apiVersion", f"there is no {kind} in {api_version}", f"it is in {elsewhere.api_version}")
        groups = [name for name, kinds in NOT_KEPT.items() if kind in kinds]
        if groups:
            return problem("apiVersion", f"there is no {kind} in {api_version}", f"it is in {groups[-1] or 'v1'}")
        hint = did_you_mean(kind, {*own, *NOT_KEPT.get(group, ())}, limit=0)
        return problem("kind", f"there is no kind '{kind}' in {api_version}", hint)
    meant = _meant(group, kind)
    if meant:
        return problem("apiVersion", f"unknown API group '{group}'", f"did you mean '{meant}'?")
    if "." not in group:  # such groups are Kubernetes' own; a CustomResourceDefinition's has a domain
        return problem("apiVersion", f"unknown API group '{group}'", did_you_mean(group, BUILT_IN_GROUPS, limit=0))
    return None


def _meant(group: str, kind: str) -> str:
    """Return the group of ours that was misspelt, for one of our kinds."""
    from difflib import SequenceMatcher  # only a mistake needs it

    row = KINDS.get(kind)
    if row is not None and SequenceMatcher(None, group, row.group).ratio() >= _ALIKE:
        return row.group
    return ""
