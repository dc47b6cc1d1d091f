"""What a refusal of Azure means: the error that core sees, and the offerings that are left alone for a while.

Source: kaz pkg/providers/instance/offerings.
"""

from __future__ import annotations

from harness.engine.ports import Sink
from harness.karpenter.launch import Choice, LaunchError
from harness.karpenter.offers import Offers
from harness.karpenter.provider.arm import Answer


class Failures:
    """Classifies answers and marks offerings."""

    def __init__(self, offers: Offers, sink: Sink) -> None:
        self._offers = offers
        self._sink = sink

    def classify(self, answer: Answer, doing: str, choice: Choice, claim: str) -> LaunchError:
        """The error of a call (`doing`) that was made for this choice."""
        error = answer.body.get("error") or {}
        code, message = str(error.get("code") or answer.status), str(error.get("message") or "")
        return LaunchError(f"{doing}: {code}: {message}")
