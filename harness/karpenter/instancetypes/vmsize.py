"""The grammar of Azure VM size names, as each version of the library that Karpenter uses reads it (skewer ``vmsize.go``)."""

import re
from collections.abc import Mapping
from functools import lru_cache

from lazyrecords import dataclass

__all__ = ["GRAMMARS", "Grammar", "VmSize"]


@dataclass(frozen=True, slots=True)
class VmSize:
    """The parts of a size name without ``Standard_``, such as ``NC24ads_A100_v4``.

    ``version`` keeps its ``v``; ``series`` is family, subfamily, additive features and version.
    """

    family: str
    subfamily: str
    cpus: str
    constrained_cpus: str | None
    features: str
    accelerator: str | None
    version: str

    @property
    def series(self) -> str:
        version = f"_{self.version}" if self.version else ""
        return f"{self.family}{self.subfamily}{self.features}{version}"

    @property
    def version_label(self) -> str:
        """The number behind the ``v``; 1 without a version."""
        return self.version[1:] if self.version else "1"


@dataclass(frozen=True)
class Grammar:
    """The rules by which one version reads size names; ``caseless_names``: capability names match in any case, else
    numbers and texts match exactly.
    """

    features: str
    accelerator: str
    caseless_names: bool

    @property
    def _pattern(self) -> re.Pattern[str]:
        return _compiled(self.features, self.accelerator)

    def parse(self, size: str) -> VmSize | None:
        """The parts of ``size``, or None when it does not follow the grammar: such sizes are not offered."""
        match = self._pattern.match(size)
        if match is None:
            return _UNPARSABLE.get(size)
        family, sub, sub2, cpus, constrained, features, accelerator, version = match.groups(default="")
        return VmSize(
            family=family,
            subfamily=sub + sub2,
            cpus=cpus,
            constrained_cpus=constrained or None,
            features=features,
            accelerator=accelerator.removeprefix("xl_") or None,
            version=version,
        )


@lru_cache(maxsize=8)
def _compiled(features: str, accelerator: str) -> re.Pattern[str]:
    return re.compile(
        rf"([A-Z])([A-Z]?)([A-Z]?)([0-9]+)-?((?:[0-9]+)?)((?:[{features}]+|C+|NP)?)_?(?:({accelerator})_?)?"
        r"(?:_cc_)?(?:_[0-9]+_)?(?:_MI300X_)?(?:_H100_)?((?:[vV][1-9])?)?(?:_Promo)?\Z"
    )


_UNPARSABLE: Mapping[str, VmSize] = {"M416s_8_v2": VmSize("M", "", "416", None, "s", None, "v2")}

_OLD = Grammar("abcdeilmtspPr", "[A-Z][0-9]+", caseless_names=False)

# 0.0.22 is not published any more; it is taken to read names as 0.0.21 does.
GRAMMARS: Mapping[str, Grammar] = {
    "0.0.20": _OLD,
    "0.0.21": _OLD,
    "0.0.22": _OLD,
    "0.0.24": Grammar("abcdeiflmnotspPr", "xl_[A-Z]+[0-9]+[A-Z]*|[A-Z]+[0-9]+", caseless_names=True),
}
