"""The boot plan of a VM: its custom data, read as the flags of its kubelet, without a cluster or a cloud.

Custom data is the script that Karpenter, the bootstrapping service or, for its own machines, AKS wrote.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

from harness.kube.admission.node_restriction import kubelet_flag_error
from harness.kube.api.versions import Version
from harness.nodes.machine import Machine
from lazyrecords import dataclass

_ASSIGNMENT = re.compile(
    r"""(?<![A-Z_])(?P<name>KUBELET_NODE_LABELS|KUBELET_FLAGS|KUBERNETES_VERSION)=(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"';]*)(?P<rest>.?)"""
)
_ESCAPE = re.compile(r"\\(.)")


_EVICTION_HARD = "memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%"
"""Thresholds of a kubelet on Linux without the flag (kubernetes pkg/kubelet/apis/config/v1beta1/defaults_linux.go)."""


class BootError(ValueError):
    """Custom data that cannot be read: not base64, or unbalanced quotes."""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint as a kubelet registers it."""

    key: str
    value: str
    effect: str

    def to_json(self) -> dict[str, str]:
        """The taint as a Node carries it."""
        taint = {"key": self.key, "effect": self.effect}
        if self.value:
            taint["value"] = self.value
        return taint


@dataclass(frozen=True, slots=True)
class BootPlan:
    """The flags with which the kubelet starts. `labels` are its `--node-labels`, in the order in which they were
    written.

    `reserved` maps `kube`, `system` to resources; `eviction_hard` maps signals to thresholds: those of the flag, which
    replace the kubelet's own. `error` is the kubelet's refusal of its labels, `unknown_flag` a flag that a kubelet of
    this version does not know: with either it does not start. `aks_labels` are the keys that AKS, not the sender, put
    there. `arch` is the machine's, as Go calls it.
    """

    node_name: str
    kubernetes_version: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    max_pods: int
    reserved: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    eviction_hard: Mapping[str, str] = field(default_factory=dict)
    external_cloud_provider: bool = True
    provider_id: str = ""
    aks_labels: frozenset[str] = frozenset()
    unknown_flag: str | None = None
    error: str | None = None
    arch: str = "amd64"


def boot_plan(machine: Machine, *, kubernetes_version: str) -> BootPlan:
    """Return the plan of a machine. `kubernetes_version` is the image's, for a text that names none. Raises BootError."""
    try:
        script = base64.b64decode(machine.custom_data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise BootError(f"custom data of {machine.name} is not base64 text: {error}") from error
    variables = _variables(script)
    flags = parse_flags(variables.get("KUBELET_FLAGS", ""))
    labels = parse_labels(variables.get("KUBELET_NODE_LABELS") or flags.get("node-labels", ""))
    version = variables.get("KUBERNETES_VERSION") or kubernetes_version
    return BootPlan(
        node_name=machine.name.lower(),
        kubernetes_version=version,
        labels=labels,
        taints=parse_taints(flags.get("register-with-taints", "")),
        max_pods=int(flags.get("max-pods") or 110),
        reserved={
            "kube": parse_pairs(flags.get("kube-reserved", "")),
            "system": parse_pairs(flags.get("system-reserved", "")),
        },
        eviction_hard=parse_pairs(flags.get("eviction-hard", _EVICTION_HARD), "<"),
        external_cloud_provider=flags.get("cloud-provider", "external") == "external",
        provider_id=flags.get("provider-id", ""),
        aks_labels=_labels_of_aks(machine),
        unknown_flag=_unknown_flag(flags, version),
        error=kubelet_flag_error(labels),
        arch=machine.hardware.arch,
    )


def _labels_of_aks(machine: Machine) -> frozenset[str]:
    """Return the label keys that AKS added by itself: only on AKS machines, and not those that the machine's body has."""
    properties: Mapping[str, Any] = (machine.body or {}).get("properties") or {}
    labels_of_body = (properties.get("kubernetes") or {}).get("nodeLabels") or {}
    return frozenset(key for key in machine.aks_labels if key not in labels_of_body)


_GONE: Mapping[str, tuple[int, int]] = {
    "azure-container-registry-config": (1, 30),
    "keep-terminated-pod-volumes": (1, 31),
    "cloud-config": (1, 34),
    "pod-infra-container-image": (1, 35),
}
"""Flags that kubelet does not know from a version on (the provider leaves them out from then on; a kubelet 1.36.3 refuses each)."""


def _unknown_flag(flags: Mapping[str, str], kubernetes: str) -> str | None:
    """The first flag that a kubelet of this version does not know, None when it knows all of them."""
    version = Version.find(kubernetes) or Version(0)
    return next((f"--{name}" for name in flags if name in _GONE and version >= _GONE[name]), None)


@lru_cache(maxsize=256)
def _variables(script: str) -> Mapping[str, str]:
    """Return the shell variables of interest; the first assignment of each counts."""
    values: dict[str, str] = {}
    for match in _ASSIGNMENT.finditer(script):
        name, value = match["name"], match["value"]
        if name in values:
            continue
        if not value and match["rest"] in ('"', "'"):
            raise BootError(f"{name} has a quote that is never closed")
        if value.startswith('"'):
            value = _ESCAPE.sub(r"\1", value[1:-1])
        elif value.startswith("'"):
            value = value[1:-1]
        values[name] = value
    return values


def parse_flags(text: str) -> dict[str, str]:
    """`--name=value` words by name; a flag without a value is `true`; the last of two equal names counts."""
    flags: dict[str, str] = {}
    for word in text.split():
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags[name] = value if equals else "true"
    return flags


def parse_pairs(text: str, separator: str = "=") -> dict[str, str]:
    """`a=1,b=2` as a mapping; empty values stay."""
    pairs: dict[str, str] = {}
    for item in text.split(","):
        name, sign, value = item.partition(separator)
        if sign and name.strip():
            pairs[name.strip()] = value.strip()
    return pairs


def parse_labels(text: str) -> dict[str, str]:
    """The labels of a `--node-labels` value."""
    return parse_pairs(text)


def parse_taints(text: str) -> tuple[Taint, ...]:
    """The taints of a `--register-with-taints` value: `key=value:Effect` or `key:Effect`; repeated ones count once."""
    taints: list[Taint] = []
    for item in filter(None, text.split(",")):
        head, _, effect = item.rpartition(":")
        key, _, value = head.partition("=")
        taint = Taint(key, value, effect)
        if taint not in taints:
            taints.append(taint)
    return tuple(taints)


def taints_json(taints: Sequence[Taint]) -> list[dict[str, str]]:
    """The taints as a Node carries them."""
    return [taint.to_json() for taint in taints]
