"""Names of Azure resources made for a NodeClaim (kaz ``pkg/providers/instance``)."""

from harness.engine.names import ProviderId, VmId
from harness.karpenter import hashstructure
from harness.karpenter.launch.failures.errors import LaunchError, LaunchPanic

__all__ = ["machine_name", "provider_id", "resource_name"]

_HASH_LENGTH = 6
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def resource_name(nodeclaim: str) -> str:
    """The VM, its disk and its network interface: ``aks-`` and the NodeClaim's name."""
    return f"aks-{nodeclaim}"


def machine_name(nodeclaim: str, limit: int = 34) -> str:
    """The AKS machine: the NodeClaim's name, the NodePool part of which is hashed beyond ``limit``.

    Raises LaunchError for a long name without a dash, LaunchPanic where the part after the last one leaves no room.
    """
    if len(nodeclaim) <= limit:
        return nodeclaim
    prefix, dash, suffix = nodeclaim.rpartition("-")
    if not dash:
        reason = f'invalid NodeClaim name format: no dash found in "{nodeclaim}"'
        raise LaunchError(f'failed to generate AKS machine name from NodeClaim name "{nodeclaim}": {reason}')
    keep = limit - len(suffix) - 1 - _HASH_LENGTH
    if keep < 0:
        raise LaunchPanic(f"panic: runtime error: slice bounds out of range [:{keep}] [recovered]")
    return f"{prefix[:keep]}{_alphanumeric(prefix[keep:])}-{suffix}"


def provider_id(vm_id: VmId) -> ProviderId:
    """``azure://`` and the VM's ARM id with its resource group in lower case."""
    head, marker, rest = vm_id.partition("/resourceGroups/")
    group, slash, tail = rest.partition("/")
    return ProviderId(f"azure://{head}{marker}{group.lower()}{slash}{tail}")


def _alphanumeric(text: str) -> str:
    value = hashstructure.of_string(text)
    digits = []
    for _ in range(_HASH_LENGTH):
        value, digit = divmod(value, 36)
        digits.append(_BASE36[digit])
    return "".join(reversed(digits))
