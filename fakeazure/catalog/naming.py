"""Azure's size names taken apart: `NC24ads_A100_v4` is letters NC, number 24, features ads, accelerator A100, version 4.

Source of the grammar: Microsoft's page "Azure virtual machine sizes naming conventions" and the names in use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(
    r"(?P<letters>[A-Z]+)(?P<number>\d+)(?:-(?P<available>\d+))?(?P<features>[a-z]*)"
    r"(?:_(?P<accelerator>[A-Z]+\d+[A-Z]*))?(?P<child>_cc)?(?:_\d+)?"
    r"(?:_v(?P<version>\d))?(?P<promo>_Promo)?"
)


@dataclass(frozen=True, slots=True)
class SizeName:
    """The parts of a size name.

    `number` is the vCPU count for every series from 2017 on and an index before (`DS14_v2`); `available` is the
    constrained vCPU count of names such as `M8-2ms`; `features` keeps the order of the name.
    """

    text: str
    tier: str
    letters: str
    number: int
    available: int | None
    features: str
    accelerator: str
    child: bool
    version: int
    promo: bool

    @property
    def series(self) -> str:
        """The series as the rule tables spell it: without counts, memory index and Promo, e.g. `NCads_A100_v4`."""
        accelerator = f"_{self.accelerator}" if self.accelerator else ""
        version = f"_v{self.version}" if self.version > 1 else ""
        return f"{self.letters}{self.features}{accelerator}{'_cc' if self.child else ''}{version}"

    @property
    def parent(self) -> str | None:
        """The unconstrained size of a constrained one (`Standard_M8ms` of `Standard_M8-2ms`), else None."""
        return None if self.available is None else self.text.replace(f"-{self.available}", "", 1)


def parse(name: str) -> SizeName:
    """Takes a full SKU name (`Standard_D2s_v3`) apart; ValueError if it does not follow the conventions."""
    tier, _, size = name.partition("_")
    found = _NAME.fullmatch(size)
    if found is None:
        raise ValueError(f"{name!r} does not follow Azure's size naming conventions")
    available = found["available"]
    return SizeName(
        text=name,
        tier=tier,
        letters=found["letters"],
        number=int(found["number"]),
        available=int(available) if available else None,
        features=found["features"],
        accelerator=found["accelerator"] or "",
        child=found["child"] is not None,
        version=int(found["version"] or 1),
        promo=found["promo"] is not None,
    )
