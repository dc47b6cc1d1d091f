"""The time that a simulation may take, in virtual time: core ends it after a minute (``provisioner.go`` Schedule)."""

__all__ = ["TimeBudget"]


class TimeBudget:
    """Seconds up to ``limit``; each attempt to place a pod takes ``attempt_seconds`` of them."""

    __slots__ = ("_attempt_seconds", "_limit", "out", "took")

    def __init__(self, limit: float, attempt_seconds: float) -> None:
        self._limit, self._attempt_seconds = limit, attempt_seconds
        self.took = 0.0
        self.out = False
        """Whether somebody asked for more time than there is."""

    def take(self) -> bool:
        """Return whether time is left for one more attempt; if so, its time is used up."""
        self.out = self.took >= self._limit
        if not self.out:
            self.took += self._attempt_seconds
        return not self.out
