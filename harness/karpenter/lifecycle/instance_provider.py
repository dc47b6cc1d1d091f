"""The part of a cloud provider that the life of a NodeClaim needs: create, get, list, delete, and how each can fail.

How a creation fails is a LaunchError; everything else is a CloudProviderError.

Source: core pkg/cloudprovider/types.go.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from harness.engine.names import ProviderId
from harness.kube.api.objects import Object
from lazyrecords import dataclass


class CloudProviderError(Exception):
    """An error of the cloud provider that core does not treat specially: retried with back-off."""


class InstanceNotFound(CloudProviderError):
    """The instance does not exist, or no longer (core's NodeClaimNotFoundError)."""

    def __init__(self, message: str) -> None:
        super().__init__(f"nodeclaim not found, {message}")


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance as the provider returns it: the parts of a NodeClaim that it resolves.

    `capacity` and `allocatable` are quantities as texts. `created` is in virtual nanoseconds since the start of the world, None when
    unknown.
    """

    name: str
    provider_id: ProviderId
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(default_factory=dict)
    image_id: str = ""
    capacity: Mapping[str, str] = field(default_factory=dict)
    allocatable: Mapping[str, str] = field(default_factory=dict)
    created: int | None = None
    deleting: bool = False


class InstanceProvider(Protocol):
    """A cloud provider. Every call may raise CloudProviderError, `create` LaunchError."""

    def create(self, claim: Object) -> Generator[float, None, Instance]:
        """Launches an instance for a NodeClaim, or finds the one that it already has. Yields the seconds to wait before each next step."""
        ...

    def get(self, provider_id: ProviderId) -> Instance:
        """The instance of this id. Raises InstanceNotFound."""
        ...

    def list(self) -> Sequence[Instance]:
        """All instances that Karpenter launched for this cluster. Raises CloudProviderError."""
        ...

    def delete(self, claim: Object) -> None:
        """Start the deletion of a NodeClaim's instance. Raises InstanceNotFound once there is none."""
        ...
