"""The exception of a world about unexpected refusals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.engine.ports import View
from harness.karpenter.validation.rejections import Rejection, RejectionLayer, schema_layer
from harness.kube.admission.defaults import missing_priority_class, priority_classes
from harness.kube.admission.runtime_class import missing_runtime_class
from harness.kube.api.field_errors import FieldError
from harness.kube.api.objects import Key, name_of
from harness.kube.api.status import ApiError
from harness.wording import did_you_mean
from plainlines import joined

__all__ = ["ObjectsRefused", "RefusalCheck", "class_hint", "is_mistake", "rejections_of"]


class ObjectsRefused(Exception):
    """Objects that were refused. `rejections` are all of them; the text has a line for each: object, layer, the words of the refusal."""

    def __init__(self, rejections: Iterable[Rejection]) -> None:
        self.rejections: tuple[Rejection, ...] = tuple(rejections)
        super().__init__(
            joined(f"{rejection.object}: {rejection.layer}: {rejection.text}" for rejection in self.rejections)
        )

    def __reduce__(self) -> tuple[type[ObjectsRefused], tuple[tuple[Rejection, ...]]]:
        """Return the error as other processes send it."""
        return type(self), (self.rejections,)


class RefusalCheck:
    """Raises for each refusal once. `rejections` is the list to which they are added."""

    def __init__(self, rejections: Sequence[Rejection]) -> None:
        self._rejections = rejections
        self._seen = 0

    def __call__(self, *, allow: bool) -> None:
        """Raise ObjectsRefused for the refusals since the last call, unless `allow`."""
        refused = [rejection for rejection in self._rejections[self._seen :] if is_mistake(rejection)]
        self._seen = len(self._rejections)
        if refused and not allow:
            raise ObjectsRefused(refused)


def is_mistake(rejection: Rejection) -> bool:
    """Return whether the user has to correct something. A refused launch is no mistake: Karpenter tries another offering."""
    return rejection.layer is not RejectionLayer.LAUNCH


def class_hint(message: str, view: View) -> str:
    """Return `did you mean 'high'?` where a refusal names a missing PriorityClass or RuntimeClass with a similar name to a present one.

    Return "" elsewhere.
    """
    if name := missing_priority_class(message):
        return did_you_mean(name, priority_classes(view.list("PriorityClass")), limit=0)
    name = missing_runtime_class(message)
    return did_you_mean(name, map(name_of, view.list("RuntimeClass")), limit=0) if name else ""


def rejections_of(error: ApiError, key: Key) -> list[Rejection]:
    """The rejections of a refused request: those of admission, else one made from the API server's Status."""
    causes = error.cause if isinstance(error.cause, tuple) else ()
    rejections = [rejection for rejection in causes if isinstance(rejection, Rejection)]
    if rejections:
        return rejections
    errors = [field_error for field_error in causes if isinstance(field_error, FieldError)]
    name, layer = f"{key.kind}/{key.name}", schema_layer(key.kind)
    if not errors:
        return [Rejection(layer, name, "", None, error.reason, error.message, error.message, ())]
    return [
        Rejection(layer, name, error.field, None, error.rule, error.detail, str(error), error.pointer)
        for error in errors
    ]
