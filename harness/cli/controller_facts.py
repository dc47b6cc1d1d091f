"""Facts in Karpenter's own Deployment: image, arguments and environment, also from ConfigMaps, and feature gates.

Secrets are not read: no answer depends on a secret, and nobody's keys should come up in an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.kube.api.versions import Version
from harness.reading.manifests import Manifest

__all__ = ["GATES", "Setting", "controller_facts", "gates_on", "unseen_sources"]

GATES = "feature_gates"
"""The name of the fact that tells the feature gates."""
_IMAGE = "karpenter/controller"
_OPTIONS = (
    "network_plugin",
    "network_plugin_mode",
    "network_policy",
    "network_dataplane",
    "vm_memory_overhead_percent",
    "provision_mode",
    "use_sig",
    "sig_subscription_id",
    "preference_policy",
    "min_values_policy",
)
"""Options of the controller that decide an answer; the others are names and keys."""
_MAY_BE_EMPTY = ("network_plugin_mode", "network_policy", "network_dataplane")
_NOT_HERE = {
    "CapacityBuffer": "CapacityBuffers hold nothing ready here",
}
"""Gates that are off in a simulation (core ``pkg/operator/options``) → what is other than in the cluster."""

Configs = Mapping[tuple[str, str], Manifest]
"""ConfigMaps by namespace and name."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that the Deployment says, and where: in itself, or in a ConfigMap that it takes its environment from."""

    name: str
    value: str
    manifest: Manifest
    path: tuple[str | int, ...]


def controller_facts(manifest: Manifest, configs: Configs) -> Iterator[Setting]:
    """Yield the facts of the container whose image is the controller's: release, region, options, gates; its presence
    means self-hosted.
    """
    for path, container, tag in _controllers(manifest):
        yield Setting("hosting", "self-hosted", manifest, (*path, "image"))
        version = Version.find(tag)
        if version is not None:
            yield Setting("karpenter", str(version), manifest, (*path, "image"))
        # an argument wins over the variable of its option (core's flags have variables as defaults)
        yield from _arguments(manifest, path, container)
        yield from _of_environment(manifest, path, container, configs)


def _controllers(manifest: Manifest) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any], str]]:
    """Path, container and image tag of each controller of Karpenter."""
    pod = ((manifest.object.get("spec") or {}).get("template") or {}).get("spec") or {}
    for number, container in enumerate(pod.get("containers") or ()):
        repository, _, tag = str(container.get("image") or "").partition("@")[0].rpartition(":")
        if repository.endswith(_IMAGE):
            yield ("spec", "template", "spec", "containers", number), container, tag


def _arguments(manifest: Manifest, path: tuple[str | int, ...], container: Mapping[str, Any]) -> Iterator[Setting]:
    from harness.karpenter.releases import find_option

    for index, word in enumerate(container.get("args") or ()):
        flag, sign, value = str(word).lstrip("-").partition("=")
        option = find_option(flag) if sign else None
        if option is not None and _is_said(option.field, value):
            yield Setting(option.field, value, manifest, (*path, "args", index))
        elif flag == "feature-gates" and sign and (on := _on(value)):
            yield Setting(GATES, on, manifest, (*path, "args", index))


def _of_environment(
    manifest: Manifest, path: tuple[str | int, ...], container: Mapping[str, Any], configs: Configs
) -> Iterator[Setting]:
    """`env` before `envFrom`, of which the last one wins, as for the kubelet."""
    from harness.karpenter.releases import option_of_variable

    settings: dict[str, Setting] = {}
    for setting in _variables(manifest, path, container, configs):
        settings[setting.name] = setting
    for variable, setting in settings.items():
        option = option_of_variable(variable)
        if variable == "LOCATION" and setting.value:
            yield Setting("region", setting.value, setting.manifest, setting.path)
        elif variable == "FEATURE_GATES" and (on := _on(setting.value)):
            yield Setting(GATES, on, setting.manifest, setting.path)
        elif option is not None and _is_said(option.field, setting.value):
            yield Setting(option.field, setting.value, setting.manifest, setting.path)


def _variables(
    manifest: Manifest, path: tuple[str | int, ...], container: Mapping[str, Any], configs: Configs
) -> Iterator[Setting]:
    """Every variable with a value, named as the process sees it; one that comes later replaces one of the same name."""
    for entry in container.get("envFrom") or ():
        name = (entry.get("configMapRef") or {}).get("name")
        config = configs.get((manifest.namespace, str(name)))
        for key, value in ((config.object.get("data") or {}) if config is not None else {}).items():
            assert config is not None
            yield Setting(f"{entry.get('prefix') or ''}{key}", str(value), config, ("data", key))
    for index, entry in enumerate(container.get("env") or ()):
        name, value = str(entry.get("name")), entry.get("value")
        reference = (entry.get("valueFrom") or {}).get("configMapKeyRef") or {}
        config = configs.get((manifest.namespace, str(reference.get("name"))))
        if isinstance(value, str):
            yield Setting(name, value, manifest, (*path, "env", index))
        elif config is not None and reference.get("key") in (config.object.get("data") or {}):
            key = str(reference["key"])
            yield Setting(name, str(config.object["data"][key]), config, ("data", key))


def unseen_sources(manifests: Sequence[Manifest], configs: Configs) -> Iterator[str]:
    """A line for each ConfigMap that a controller takes its whole environment from and that is not given."""
    for manifest in manifests:
        if manifest.kind != "Deployment":
            continue
        for _, container, _ in _controllers(manifest):
            for entry in container.get("envFrom") or ():
                name = (entry.get("configMapRef") or {}).get("name")
                if name and (manifest.namespace, str(name)) not in configs:
                    yield f"{manifest.reference} takes options from ConfigMap {name}, which no file has"


def gates_on(text: str) -> Iterator[str]:
    """A line for each gate of a fact that is on in the cluster, and off in a simulation."""
    for gate, meaning in _NOT_HERE.items():
        if f"{gate}=true" in text.split(","):
            yield f"the feature gate {gate} is on in the cluster and off in a simulation: {meaning}"


def _on(text: str) -> str:
    """Return the gates of `A=true,B=false` that are on."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return ",".join(f"{name.strip()}=true" for name, _, value in pairs if value.strip().lower() in ("true", "t", "1"))


def _is_said(field: str, value: Any) -> bool:
    """Return whether it is an option that is read, with a value: not one that somebody's shell is to fill in."""
    return field in _OPTIONS and isinstance(value, str) and "$" not in value and (bool(value) or field in _MAY_BE_EMPTY)
