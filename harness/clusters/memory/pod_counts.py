"""The number of pods of each owner that live, are ready or end, kept up by the changes of pods."""

from __future__ import annotations

from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import Object, condition_is, is_terminating, owners_of, status_of, uid_of
from harness.kube.scheduling.pods import is_terminal

__all__ = ["PodCounts"]


_Counted = tuple[tuple[str, ...], bool, bool]
"""The owners of a pod that has not ended, whether it is being deleted, and whether it is ready."""


class PodCounts:
    """The counts of pods by the uid of their owner, zero for an unknown one. It has to `hear` every change of a pod."""

    __slots__ = ("_counted", "_ending", "_living", "_ready")

    def __init__(self) -> None:
        self._counted: dict[str, _Counted] = {}
        """The counted facts of each pod that has not ended, by its uid."""
        self._ending: dict[str, int] = {}
        self._living: dict[str, int] = {}
        self._ready: dict[str, int] = {}

    def hear(self, change: Change) -> None:
        """Update the counts for a change of a pod."""
        pod, old = change.object, change.old
        if change.type is ChangeType.MODIFIED and old is not None and _counts_alike(pod, old):
            return
        uid = uid_of(pod)
        before = self._counted.get(uid)
        now = None if change.type is ChangeType.DELETED else _counted(pod)
        if now == before:
            return
        if now is None:
            del self._counted[uid]
        else:
            self._counted[uid] = now
        self._add(before, -1)
        self._add(now, 1)

    def counts_of(self, owner: str) -> tuple[int, int, int]:
        """Return the number of active pods with this owner (neither ended nor being deleted), of the ready ones, and of those that end."""
        return self._living.get(owner, 0), self._ready.get(owner, 0), self._ending.get(owner, 0)

    def _add(self, counted: _Counted | None, number: int) -> None:
        if counted is None:
            return
        owners, ending, ready = counted
        for table in (self._ending,) if ending else (self._living, self._ready) if ready else (self._living,):
            for owner in owners:
                total = table.get(owner, 0) + number
                if total:
                    table[owner] = total
                else:
                    del table[owner]


def _counts_alike(pod: Object, old: Object) -> bool:
    """Return whether the counted facts of a pod are unchanged."""
    status, before = status_of(pod), status_of(old)
    return (
        status.get("conditions") is before.get("conditions")
        and status.get("phase") == before.get("phase")
        and is_terminating(pod) == is_terminating(old)
        and owners_of(pod) is owners_of(old)
    )


def _counted(pod: Object) -> _Counted | None:
    if is_terminal(pod):
        return None
    owners = owners_of(pod)
    uids = (owners[0]["uid"],) if len(owners) == 1 else tuple(dict.fromkeys(ref["uid"] for ref in owners))
    ending = is_terminating(pod)
    return uids, ending, not ending and condition_is(pod, "Ready")
