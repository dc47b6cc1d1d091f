"""Events about a node, whose text is made only when it is read: of a thousand nodes most repeat what they said a moment ago."""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import name_of

__all__ = ["About", "NodeEvents", "NodeRow", "RowText", "Text", "Told", "of_node"]

About = tuple[str | None, str | None, str]
"""The names of a Node and of its NodeClaim, and the reason of an event about them."""

Text = str | Callable[[], str]
"""A message, or what words it."""

RowText = str | Callable[[StateNode], str]
"""A message about a node of a row, or what words it."""


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


class NodeRow:
    """Events of one reason about one node after the other, each with a text of its own; they hide others as :class:`NodeEvents` do.

    It grows as long as nothing else is said (`extend`). Iterating yields all of them.
    """

    __slots__ = ("_dedupe", "_texts", "nodes", "reason")

    def __init__(self, reason: str, dedupe: float) -> None:
        self.reason, self._dedupe = reason, dedupe
        self.nodes: list[StateNode] = []
        self._texts: list[RowText] = []

    def extend(self, nodes: Sequence[StateNode], texts: Sequence[RowText]) -> None:
        """Adds nodes, each with its text."""
        self.nodes.extend(nodes)
        self._texts.extend(texts)

    def about(self, place: int) -> About:
        """What one of them is about."""
        return _about(self.nodes[place], self.reason)

    def abouts(self) -> Iterator[About]:
        """What they are about, one after the other."""
        of_reason = NodeEvents, self.reason
        for node in self.nodes:
            yield node.remembered.get(of_reason) or _about(node, self.reason)

    def at(self, place: int, about: About | None = None) -> NodeEvents:
        """The events about one of them; ``about`` is what they are about, where that is known."""
        text = self._texts[place]
        worded = text if isinstance(text, str) else partial(text, self.nodes[place])
        return NodeEvents(about or self.about(place), worded, self._dedupe, hides=True)

    def without(self, places: Collection[int]) -> "NodeRow":
        """The others, as a row of their own."""
        rest = NodeRow(self.reason, self._dedupe)
        left = [place for place in range(len(self.nodes)) if place not in places]
        rest.extend([self.nodes[place] for place in left], [self._texts[place] for place in left])
        return rest

    def __iter__(self) -> Iterator[SchedulingEvent]:
        for place in range(len(self.nodes)):
            yield from self.at(place)


Told = SchedulingEvent | NodeEvents | NodeRow
"""What a turn publishes."""


def of_node(node: StateNode, reason: str, text: Text, dedupe: float, *, hides: bool = False) -> NodeEvents:
    """The events of this reason about a node; ``dedupe`` is in seconds."""
    return NodeEvents(_about(node, reason), text, dedupe, hides)


def _about(node: StateNode, reason: str) -> About:
    about: About | None = node.remembered.get((NodeEvents, reason))
    if about is None:
        own, claim = (None if each is None else name_of(each) for each in (node.node, node.nodeclaim))
        about = node.remembered[NodeEvents, reason] = own, claim, reason
    return about
