"""Events about a node, whose text is made only when it is read: of a thousand nodes most repeat what they said a moment ago."""

from collections.abc import Callable, Iterator

from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered
from harness.kube.api.objects import name_of

__all__ = ["About", "NodeEvents", "Text", "Told", "of_node"]

About = tuple[str | None, str | None, str]
"""The names of a Node and of its NodeClaim, and the reason of an event about them."""

Text = str | Callable[[], str]
"""A message, or what words it."""


class NodeEvents:
    """One event about a Node and the same about its NodeClaim, as far as they exist; iterating yields them.

    ``about`` is the Node's name, the NodeClaim's, and the reason. The same event is published once in ``dedupe`` seconds; with ``hides``
    any event of this reason about the two is dropped for so long, whatever its text.
    """

    __slots__ = ("_text", "about", "dedupe", "hides")

    def __init__(self, about: About, text: Text, dedupe: float, hides: bool) -> None:
        self.about, self._text, self.dedupe, self.hides = about, text, dedupe, hides

    @property
    def message(self) -> str:
        if not isinstance(self._text, str):
            self._text = self._text()
        return self._text

    def __iter__(self) -> Iterator[SchedulingEvent]:
        node, claim, reason = self.about
        if node is not None:
            yield SchedulingEvent("Node", node, "Normal", reason, self.message, self.dedupe)
        if claim is not None:
            yield SchedulingEvent("NodeClaim", claim, "Normal", reason, self.message, self.dedupe)


Told = SchedulingEvent | NodeEvents
"""The events that a turn publishes."""


def of_node(node: StateNode, reason: str, text: Text, dedupe: float, *, hides: bool = False) -> NodeEvents:
    """The events of this reason about a node; ``dedupe`` is in seconds."""
    return NodeEvents(_about(node, reason), text, dedupe, hides)


@remembered
def _about(node: StateNode, reason: str) -> About:
    own, claim = (None if obj is None else name_of(obj) for obj in (node.node, node.nodeclaim))
    return own, claim, reason
