"""Writes the CRD tables of harness.karpenter.validation from the CRD files of the provider's releases.

    python tools/crd_tables.py DIR

DIR has a folder per release (``DIR/1.14.0/*.yaml``: the files of that release's ``pkg/apis/crds``). The result has one row per
field or rule and range of releases, without descriptions. CEL expressions are recognised and become the name and the arguments of a
predicate of ours; an expression that is not recognised stops the tool.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

TARGET = Path(__file__).parent.parent / "harness/karpenter/releases/data/crds.json"
DROPPED = {"description", "title", "example", "externalDocs", "x-kubernetes-map-type"}
CHILDREN = {"properties", "items", "additionalProperties", "x-kubernetes-validations"}

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


def nodes(definition: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Every node below a schema: path, keywords, rules."""
    for word in path.rpartition(".")[2:]:
        if re.search(r"[^\w\[\]{}-]", word):
            raise ValueError(f"unexpected field name in {path}")
    own = {key: value for key, value in definition.items() if key not in DROPPED | CHILDREN}
    rules = [[predicate(entry["rule"]), entry["message"]] for entry in definition.get("x-kubernetes-validations", ())]
    for entry in definition.get("x-kubernetes-validations", ()):
        if set(entry) - {"rule", "message"}:
            raise ValueError(f"{path}: rule with {sorted(entry)}")
    yield path, own, rules
    for name, child in definition.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}" if path else name)
    if "items" in definition:
        yield from nodes(definition["items"], f"{path}[]")
    if isinstance(definition.get("additionalProperties"), dict):
        yield from nodes(definition["additionalProperties"], f"{path}{{}}")


class Ranges:
    """Values by key and release, as ranges of successive releases."""

    def __init__(self, releases: list[str]) -> None:
        self.releases = releases
        self.rows: dict[tuple[str, str], set[str]] = {}

    def add(self, path: str, value: Any, release: str) -> None:
        self.rows.setdefault((path, json.dumps(value, sort_keys=True)), set()).add(release)

    def result(self) -> list[list[Any]]:
        """Rows ``[path, value, first release, last release]``; a gap makes two rows."""
        rows = []
        for (path, value), present in self.rows.items():
            start = None
            for position, release in enumerate(self.releases):
                if release in present and start is None:
                    start = release
                last = position + 1 == len(self.releases) or self.releases[position + 1] not in present
                if release in present and last:
                    rows.append([path, json.loads(value), start, release])
                    start = None
        return rows


def version_key(text: str) -> list[int]:
    """Releases in their order."""
    return [int(part) for part in text.split(".")]


def build(source: Path) -> dict[str, Any]:
    """The tables of all releases below a directory."""
    releases = sorted((entry.name for entry in source.iterdir() if entry.is_dir()), key=version_key)
    crds: dict[str, Any] = {}
    fields: dict[str, Ranges] = {}
    rules: dict[str, Ranges] = {}
    # newest first: the newest release's order is the order of the rows
    for release in reversed(releases):
        for file in sorted((source / release).glob("*.yaml")):
            spec = yaml.safe_load(file.read_text())["spec"]
            for version in spec["versions"]:
                name = f"{spec['group']}/{version['name']}/{spec['names']['kind']}"
                crds.setdefault(name, {"plural": spec["names"]["plural"], "scope": spec["scope"]})
                table = fields.setdefault(name, Ranges(releases))
                rule_table = rules.setdefault(name, Ranges(releases))
                for path, own, own_rules in nodes(version["schema"]["openAPIV3Schema"]):
                    table.add(path, own, release)
                    for rule in own_rules:
                        rule_table.add(path, rule, release)
    for name, crd in crds.items():
        crd["fields"] = fields[name].result()
        crd["rules"] = [[path, *value, first, last] for path, value, first, last in rules[name].result()]
    return {"releases": releases, "crds": crds}


def render(tables: dict[str, Any]) -> str:
    """JSON with a line per row."""

    def rows(name: str, entries: list[Any]) -> str:
        lines = ",\n".join("    " + json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in entries)
        return f'   "{name}": [\n{lines}\n   ]'

    crds = ",\n".join(
        f'  "{name}": {{\n   "plural": "{crd["plural"]}", "scope": "{crd["scope"]}",\n'
        f"{rows('rules', crd['rules'])},\n{rows('fields', crd['fields'])}\n  }}"
        for name, crd in tables["crds"].items()
    )
    return f'{{\n "releases": {json.dumps(tables["releases"])},\n "crds": {{\n{crds}\n }}\n}}\n'


def main() -> int:
    """Command line."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render(build(Path(sys.argv[1]))))
    print(TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main())
