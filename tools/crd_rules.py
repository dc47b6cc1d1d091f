"""CEL rules of the provider's CRDs as names and arguments of our predicates."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["predicate"]

_LAUNCH = r"self\.security\.trustedLaunch"
_TRUSTED_LAUNCH = (
    rf"has\(self\.security\) && has\({_LAUNCH}\) && \(\(has\({_LAUNCH}\.vtpm\) && {_LAUNCH}\.vtpm\) \|\| "
    rf"\(has\({_LAUNCH}\.secureBoot\) && {_LAUNCH}\.secureBoot\)\)"
)
PATTERNS: tuple[tuple[str, str], ...] = (
    ("unchanged", r"self == oldSelf"),
    ("unchanged-field", r"self\.(?P<field>\w+) == oldSelf\.(?P=field)"),
    ("unchanged-presence", r"has\(self\.(?P<field>\w+)\) == has\(oldSelf\.(?P=field)\)"),
    ("not-empty", r"self != ''"),
    ("key-not", r"""self != ["'](?P<key>[^"']+)["']"""),
    ("keys-not", r"""self\.all\(x, x != ["'](?P<key>[^"']+)["']\)"""),
    ("keys-not", r"self\.all\(x, !\(x in \[(?P<keys>[^\]]*)\]\)\)"),
    ("requirement-values", r"self\.all\(x, x\.operator == '(?P<operator>\w+)' \? x\.values\.size\(\) != 0 : true\)"),
    (
        "requirement-number",
        r"self\.all\(x, \((?P<operators>x\.operator == '\w+'(?: \|\| x\.operator == '\w+')*)\) "
        r"\? \(x\.values\.size\(\) == 1 && int\(x\.values\[0\]\) >= 0\) : true\)",
    ),
    (
        "requirement-min-values",
        r"self\.all\(x, \(x\.operator == 'In' && has\(x\.minValues\)\) \? x\.values\.size\(\) >= x\.minValues : true\)",
    ),
    ("together", r"self\.all\(x, has\(x\.(?P<first>\w+)\) == has\(x\.(?P<second>\w+)\)\)"),
    ("exclusive", r"!has\(self\.(?P<first>\w+)\) \|\| !has\(self\.(?P<second>\w+)\)"),
    (
        "lone-key",
        r"!has\(self\.(?P<when>\w+)\) \|\| \(!has\(self\.(?P<field>\w+)\) \|\| size\(self\.(?P=field)\) == 0 \|\| "
        r"\(size\(self\.(?P=field)\) == 1 && '(?P<key>\w+)' in self\.(?P=field)\)\)",
    ),
    ("above", r"has\(self\.(?P<high>\w+)\) && has\(self\.(?P<low>\w+)\) \? +self\.(?P=high) > self\.(?P=low) +: true"),
    (
        "not-above",
        r"has\(self\.(?P<low>\w+)\) && has\(self\.(?P<high>\w+)\) \? self\.(?P=low) <= self\.(?P=high) : true",
    ),
    ("key-length", r"self\.all\(k, size\(k\) <= (?P<limit>\d+)\)"),
    ("value-length", r"self\.all\(k, size\(self\[k\]\) <= (?P<limit>\d+)\)"),
    ("keys-without", r"self\.all\(k, !k\.matches\('\[(?P<characters>[^\]]+)\]'\)\)"),
    ("keys-without", r"self\.all\(k, !k\.contains\('\\(?P<characters>\\)'\)\)"),
    (
        "fips-family",
        r"has\(self\.fipsMode\) && self\.fipsMode == 'FIPS' \? \(has\(self\.imageFamily\)"
        r"(?P<families>(?: && self\.imageFamily != '\w+')+)\) : true",
    ),
    (
        "fips-excludes",
        r"has\(self\.imageFamily\) && has\(self\.fipsMode\) \? "
        r"!\(self\.imageFamily == (?P<families>'\w+') && self\.fipsMode == 'FIPS'\) : true",
    ),
    (
        "fips-family-trusted-launch",
        r"has\(self\.fipsMode\) && self\.fipsMode == 'FIPS' \? \(has\(self\.imageFamily\) && "
        rf"\(self\.imageFamily != (?P<families>'\w+') \|\| \({_TRUSTED_LAUNCH}\)\)\) : true",
    ),
    (
        "trusted-launch-fips-families",
        rf"has\(self\.fipsMode\) && self\.fipsMode == 'FIPS' && {_TRUSTED_LAUNCH} \? "
        r"\(!has\(self\.imageFamily\)(?P<families>(?: \|\| self\.imageFamily == '\w+')+)\) : true",
    ),
    (
        "swap-needs-no-fail",
        r"!has\(self\.linuxOSConfig\) \|\| !has\(self\.linuxOSConfig\.swapFileSize\) \|\| "
        r"\(has\(self\.kubelet\) && has\(self\.kubelet\.failSwapOn\) && self\.kubelet\.failSwapOn == false\)",
    ),
    ("zones-present", r"\[(?P<zones>[^\]]*)\]\.all\(z, self\.exists\(x, x\.zone == z\)\)"),
    (
        "zone-not-forwarded",
        r"!\(self\.zone\.endsWith\('(?P<zone>[^']+)'\) && self\.forwardDestination == '(?P<destination>\w+)'\)",
    ),
    ("stale-not-tcp", r"!\(self\.serveStale == '(?P<stale>\w+)' && self\.protocol == '(?P<protocol>\w+)'\)"),
    (
        "root-not-forwarded",
        r"!self\.exists\(x, x\.zone == '\.' && x\.forwardDestination == '(?P<destination>\w+)'\)",
    ),
    (
        "external-not-forwarded",
        r"!self\.exists\(x, x\.zone != '\.' && !x\.zone\.endsWith\('(?P<zone>[^']+)'\) && "
        r"x\.forwardDestination == '(?P<destination>\w+)'\)",
    ),
    (
        "port-between",
        r"!has\(self\.(?P<field>\w+)\) \|\| \(int\(self\.(?P=field)\.split\(' '\)\[(?P<index>\d)\]\) >= (?P<low>\d+) && "
        r"int\(self\.(?P=field)\.split\(' '\)\[(?P=index)\]\) <= (?P<high>\d+)\)",
    ),
    (
        "ports-ordered",
        r"!has\(self\.(?P<field>\w+)\) \|\| int\(self\.(?P=field)\.split\(' '\)\[0\]\) <= "
        r"int\(self\.(?P=field)\.split\(' '\)\[1\]\)",
    ),
)
WORDS = {"keys", "zones", "operators", "families"}
NUMBERS = {"limit", "low", "high", "index"}
_DOMAIN_PART = re.compile(r'(!?)(?:x|self)\.find\("\^\(\[\^/\]\+\)"\)\.endsWith\("([^"]+)"\)')
_IN_PART = re.compile(r"(?:x|self) in \[([^\]]*)\]")


def words(text: str) -> list[str]:
    """The quoted words of a CEL list."""
    return re.findall(r"""["']([^"']+)["']""", text)


def predicate(expression: str) -> dict[str, Any]:
    """Name and arguments of our predicate for a CEL expression. Raises ValueError when there is none."""
    for family, pattern in PATTERNS:
        match = re.fullmatch(pattern, expression)
        if match is None:
            continue
        found: dict[str, Any] = {"rule": family}
        for name, value in match.groupdict().items():
            if name in WORDS:
                found[name] = words(value)
            elif name in NUMBERS and family not in ("above", "not-above"):
                found[name] = int(value)
            else:
                found[name] = value
        return found
    body = expression
    family = "domain"
    if body.startswith("self.all(x, ") and body.endswith(")"):
        body, family = body.removeprefix("self.all(x, ").removesuffix(")"), "domains"
    found = {"rule": family, "domain": "", "keys": [], "domains": []}
    for part in body.split(" || "):
        if (listed := _IN_PART.fullmatch(part)) is not None:
            found["keys"] = words(listed[1])
        elif (domain := _DOMAIN_PART.fullmatch(part)) is not None and domain[1]:
            found["domain"] = domain[2]
        elif domain is not None:
            found["domains"].append(domain[2])
        else:
            raise ValueError(f"no predicate for {expression}")
    return {name: value for name, value in found.items() if value}
