"""The errors of a launch, in Karpenter's words (core ``pkg/cloudprovider/types.go``, kaz ``pkg/cloudprovider/cloudprovider.go``)."""

from enum import StrEnum

__all__ = ["CREATING_MACHINE", "FailureKind", "LaunchError", "LaunchPanic"]

CREATING_MACHINE = "creating AKS machine failed"
"""The beginning of the error of an AKS machine that could not be made."""
_SHOWN = 1200


class FailureKind(StrEnum):
    """The ways in which Karpenter core handles the error."""

    CAPACITY = "insufficient-capacity"
    """Insufficient capacity: the NodeClaim is deleted and its pods are scheduled again."""
    NODECLASS_NOT_READY = "nodeclass-not-ready"
    """The NodeClaim is deleted."""
    CREATE = "create"
    """The NodeClaim stays with a reason and a message in its Launched condition, and is tried again."""
    OTHER = "other"
    """Handled like ``create``, with the reason LaunchFailed."""


class LaunchError(Exception):
    """A failed launch; ``str()`` is the provider's error text.

    ``condition_reason`` and ``condition_message`` are what the NodeClaim's Launched condition says; empty where it is deleted.
    """

    def __init__(
        self,
        text: str,
        kind: FailureKind = FailureKind.OTHER,
        *,
        condition_reason: str = "LaunchFailed",
        condition_message: str | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.kind = kind
        self.condition_reason = condition_reason
        self.condition_message = _shortened(text if condition_message is None else condition_message)

    @classmethod
    def capacity(cls, reason: str) -> "LaunchError":
        """No offering is available for this NodeClaim."""
        return cls(f"insufficient capacity, {reason}", FailureKind.CAPACITY, condition_reason="", condition_message="")

    @classmethod
    def create(cls, cause: str, reason: str, message: str | None = None) -> "LaunchError":
        """The provider could not create the machine; ``message`` is ``cause`` unless given."""
        shown = cause if message is None else message
        return cls(f"creating nodeclaim, {cause}", FailureKind.CREATE, condition_reason=reason, condition_message=shown)

    @classmethod
    def nodeclass_not_ready(cls, message: str) -> "LaunchError":
        """The AKSNodeClass says that it is not ready."""
        return cls(
            f"NodeClassRef not ready, {message}",
            FailureKind.NODECLASS_NOT_READY,
            condition_reason="",
            condition_message="",
        )

    def behind(self, context: str) -> "LaunchError":
        """The same failure with ``context`` in front of its text."""
        return LaunchError(
            f"{context}{self.text}",
            self.kind,
            condition_reason=self.condition_reason,
            condition_message=self.condition_message,
        )

    def as_create_error(self, context: str) -> "LaunchError":
        """The error as CloudProvider.Create wraps it: an inner reason is kept, and so is the kind of a capacity error."""
        classified = self.kind is FailureKind.CREATE
        return LaunchError(
            f"creating nodeclaim, {context}, {self.text}",
            FailureKind.CREATE if self.kind is FailureKind.OTHER else self.kind,
            condition_reason=self.condition_reason if classified else "CreateInstanceFailed",
            condition_message=self.condition_message if classified else self.text,
        )


def _shortened(text: str) -> str:
    return text if len(text) < _SHOWN else text[:_SHOWN] + "..."


class LaunchPanic(Exception):
    """The provider's code panics during a launch; ``str()`` is the text with which controller-runtime logs the recovered panic.

    The reconcile leaves nothing behind, no condition and no later step, so that the NodeClaim is retried for ever.
    """

    NIL_POINTER = "panic: runtime error: invalid memory address or nil pointer dereference [recovered]"
