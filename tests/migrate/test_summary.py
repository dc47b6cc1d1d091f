"""The first lines of a migration."""

from __future__ import annotations

from harness.migrate.proposing.proposal import Proposal
from harness.migrate.summary import headline
from harness.migrate.walking.walk import Fleet, Walk

KNOWN = "no price is known for"


def walk(after: Fleet) -> Walk:
    before = Fleet(2, 1.0, {"Standard_D4s_v5": 2})
    return Walk(before, before, after, 60.0, 0.1, (), (), (), passed=True)


def test_sizes_without_a_price_are_named() -> None:
    proposal = Proposal((), (), ())
    priced = walk(Fleet(1, 0.5, {"Standard_D8s_v5": 1}))
    assert not [line for line in headline((), priced, proposal) if line.startswith(KNOWN)]
    unpriced = walk(Fleet(1, 0.0, {"Standard_New": 1}, ("Standard_New",)))
    assert f"{KNOWN} Standard_New, whose machines count as 0 USD here" in list(headline((), unpriced, proposal))
