"""The meaning of an error of Azure for one launch: the error that core gets, and the offerings that become unavailable for a while."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from harness.engine.clock import SECOND, Clock
from harness.engine.ports import Sink
from harness.karpenter.launch import Choice, LaunchError
from harness.karpenter.launch.failures.errors import CREATING_MACHINE
from harness.karpenter.launch.failures.handlers import (
    AzureFailure,
    Verdict,
    classify,
    machine_begin_error,
    machine_operation_error,
    machine_provisioning_error,
    vm_error,
)
from harness.karpenter.provider.arm import Answer
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.releases import ProvisionMode
from harness.kube.go.durations import print_duration

_REASONS: Mapping[int, str] = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    412: "Precondition Failed",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_RULE = "-" * 80


class Phase(StrEnum):
    """The provider's step during which Azure returned the error."""

    BOOTSTRAPPING = "node bootstrapping"
    NIC = "network interface"
    VM = "virtual machine"
    VM_OPERATION = "virtual machine operation"
    MACHINE = "machine"
    MACHINE_EARLY = "machine, right after it was accepted"
    MACHINE_FOUND = "machine that was there"
    MACHINE_OPERATION = "machine operation"
    MACHINE_SILENT = "machine operation, of whose failure the machine says nothing"


class Failures:
    """Classifies answers and marks offerings unavailable."""

    def __init__(self, instance_types: InstanceTypeProvider, sink: Sink, clock: Clock) -> None:
        self._instance_types = instance_types
        self._sink = sink
        self._clock = clock

    def error(self, answer: Answer, phase: Phase, choice: Choice, name: str, url: str) -> LaunchError:
        """The error that core gets for a failed call about the resource `name`. Offerings are marked unavailable as it says."""
        failure = failure_of(answer, "GET" if "operation" in phase else "PUT", url)
        if phase in (Phase.BOOTSTRAPPING, Phase.NIC):
            return LaunchError(failure.searched).as_create_error("creating instance failed")
        if phase is Phase.MACHINE_SILENT:
            return machine_operation_error(name, failure)
        release = self._instance_types.release
        verdict = classify(failure, choice, release, machine_request=phase is Phase.MACHINE)
        if verdict is not None:
            self._mark(verdict, choice)
        if phase is Phase.VM:
            return vm_error(name, failure, verdict)
        if phase is Phase.VM_OPERATION:
            return verdict.error() if verdict is not None else LaunchError(failure.searched)
        if phase is Phase.MACHINE:
            return machine_begin_error(name, failure, verdict, release)
        error = machine_provisioning_error(name, failure, verdict, phase=self._during(phase))
        return error if phase is Phase.MACHINE_OPERATION else error.as_create_error(CREATING_MACHINE)

    def _during(self, phase: Phase) -> str:
        """Return the name of the phase in the error of a machine that failed; with calls in batches the machine itself is polled."""
        if phase is Phase.MACHINE_EARLY:
            return "get once after begin creation"
        if phase is Phase.MACHINE_FOUND:
            return "reusing existing AKS machine"
        batched = self._instance_types.options.provision_mode == ProvisionMode.AKS_MACHINE_API_HEADER_BATCH
        return "LRO (GET poller)" if batched else "LRO"

    def _mark(self, verdict: Verdict, choice: Choice) -> None:
        sku = self._instance_types.sku(choice.instance_type.name)
        if sku is None:
            return
        ttl = print_duration(int(verdict.ttl * SECOND))
        for mark in verdict.mark(
            self._instance_types.unavailable, sku, choice, self._instance_types.release, now=self._clock.seconds
        ):
            place = {"zone": mark.zone, "capacity-type": mark.capacity_type, "ttl": ttl}
            if mark.size:
                values = {"unavailable": verdict.reason, "instance-type": sku.name, **place}
                self._sink.log("debug", "offerings", "removing offering from offerings", **values)
            if mark.vcpus is not None:
                values = {"family": sku.family, **place, "max-cpu": str(mark.vcpus)}
                self._sink.log("debug", "offerings", "marking VM Family unavailable in zone", **values)
            if mark.zone is None:
                values = {"unavailable": "SpotUnavailable", "capacity-type": mark.capacity_type, "ttl": ttl}
                self._sink.log("debug", "offerings", "removing offering from offerings", **values)


def failure_of(answer: Answer, method: str, url: str) -> AzureFailure:
    """The error of an answer, with the text that Azure's SDK for Go prints for it (azcore internal/exported, NewResponseError)."""
    error: Mapping[str, Any] = answer.body.get("error") or {}
    code = str(error.get("code") or "")
    body = json.dumps(answer.body, indent=2) if answer.body else "Response contained no body"
    text = "\n".join(
        (
            f"{method} {url}",
            _RULE,
            f"RESPONSE {answer.status}: {answer.status} {_REASONS.get(answer.status, '')}",
            f"ERROR CODE: {code}" if code else "ERROR CODE UNAVAILABLE",
            _RULE,
            body,
            _RULE,
            "",
        )
    )
    return AzureFailure(code, str(error.get("message") or ""), text)
