"""Writes the CRD tables of harness.karpenter.validation from the CRD files of the provider's releases.

    python -m tools.crd_tables DIR

DIR has a folder per release (``DIR/1.14.0/*.yaml``: the files of that release's ``pkg/apis/crds``). The result has one row per
field or rule and range of releases, without descriptions. CEL expressions are recognised and become the name and the arguments of a
predicate of ours; an expression that is not recognised stops the tool. ``tools.new_release`` adds a release to the tables that are there.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.crd_rules import predicate

TARGET = Path(__file__).parent.parent / "harness/karpenter/releases/data/crds.json"
DROPPED = {"description", "title", "example", "externalDocs", "x-kubernetes-map-type"}
PARTS = ("fields", "rules", "scales")
"""The tables of a resource: fields, rules, scale subresource. A row is what is the same in a range of releases."""
CHILDREN = {"properties", "items", "additionalProperties", "x-kubernetes-validations"}


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

    def extend(self, path: str, value: Any, first: str, last: str) -> None:
        """A row of tables with some of these releases, or none of them."""
        known = self.releases
        since = known.index(first) if first in known else len(known)
        until = known.index(last) if last in known else len(known) - 1
        for release in known[since : until + 1]:
            self.add(path, value, release)

    def follow(self, before: Iterable[tuple[str, Any]]) -> None:
        """Puts each row that only older releases have behind the one that it followed there."""
        order = [key for key, releases in self.rows.items() if self.releases[-1] in releases]
        new = set(order)
        older = [(path, json.dumps(value, sort_keys=True)) for path, value in before]
        last = None
        for key in dict.fromkeys(older):
            if key not in new:
                order.insert(order.index(last) + 1 if last is not None else 0, key)
            last = key
        self.rows = {key: self.rows[key] for key in order}

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


def version_key(text: str) -> tuple[bool, list[int]]:
    """Releases in their order; what has no number comes last."""
    numbers = text.split(".")
    return (False, [int(part) for part in numbers]) if all(part.isdigit() for part in numbers) else (True, [])


def build(source: Path) -> dict[str, Any]:
    """The tables of all releases below a directory."""
    tables: dict[str, Any] = {"releases": [], "crds": {}}
    for folder in sorted(
        (entry for entry in source.iterdir() if entry.is_dir()), key=lambda entry: version_key(entry.name)
    ):
        tables = with_release(tables, folder.name, definitions(folder))
    return tables


def definitions(folder: Path) -> list[Mapping[str, Any]]:
    """The CRDs in the files of a folder. Raises ValueError where there are none."""
    found = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.yaml"))]
    if not found:
        raise ValueError(f"no CRD files in {folder}")
    return found


def with_release(tables: Mapping[str, Any], release: str, crds: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The tables with one more release, the newest. Rows stand in the order of every release that has them.

    What the new release lacks stays behind the row that it followed; where releases disagree the new one counts.
    """
    releases = [*tables["releases"], release]
    result: dict[str, Any] = {}
    for crd in crds:
        spec = crd["spec"]
        for version in spec["versions"]:
            name = f"{spec['group']}/{version['name']}/{spec['names']['kind']}"
            fields, rules, scales = Ranges(releases), Ranges(releases), Ranges(releases)
            if (scale := version.get("subresources", {}).get("scale")) is not None:
                scales.add("", scale, release)
            for path, own, own_rules in nodes(version["schema"]["openAPIV3Schema"]):
                fields.add(path, own, release)
                for rule in own_rules:
                    rules.add(path, rule, release)
            told = {"plural": spec["names"]["plural"], "scope": spec["scope"]}
            result[name] = {**told, "fields": fields, "rules": rules, "scales": scales}
    for name, table in tables["crds"].items():
        mine = result.setdefault(name, {**table, **{part: Ranges(releases) for part in PARTS}})
        for path, scale, first, last in table["scales"]:
            mine["scales"].extend(path, scale, first, last)
        for path, row, first, last in table["fields"]:
            mine["fields"].extend(path, row, first, last)
        for path, definition, message, first, last in table["rules"]:
            mine["rules"].extend(path, [definition, message], first, last)
        mine["fields"].follow([(path, row) for path, row, _, _ in table["fields"]])
        mine["rules"].follow([(path, [definition, message]) for path, definition, message, _, _ in table["rules"]])
    return _rendered(result, releases)


def of_release(tables: Mapping[str, Any], release: str) -> dict[str, list[list[Any]]]:
    """What one release has, in its order: fields and rules by resource, without the ranges."""
    place = tables["releases"].index
    return {
        f"{name} {part}": [row[:-2] for row in table[part] if place(row[-2]) <= place(release) <= place(row[-1])]
        for name, table in tables["crds"].items()
        for part in PARTS
    }


def without_release(tables: Mapping[str, Any], release: str) -> dict[str, Any]:
    """The tables as they were before their newest release. Raises ValueError for another one than the newest."""
    if tables["releases"][-1] != release:
        raise ValueError(f"{release} is not the newest release of the tables")
    releases = tables["releases"][:-1]
    result: dict[str, Any] = {}
    for name, table in tables["crds"].items():
        mine = {**table, **{part: Ranges(releases) for part in PARTS}}
        for path, scale, first, last in table["scales"]:
            mine["scales"].extend(path, scale, first, last)
        for path, row, first, last in table["fields"]:
            mine["fields"].extend(path, row, first, last)
        for path, definition, message, first, last in table["rules"]:
            mine["rules"].extend(path, [definition, message], first, last)
        result[name] = mine
    return _rendered(result, releases)


def without_later(tables: Mapping[str, Any], release: str) -> dict[str, Any]:
    """The tables as they were when a release was the newest."""
    result = dict(tables)
    for later in reversed(tables["releases"][tables["releases"].index(release) + 1 :]):
        result = without_release(result, later)
    return result


def _rendered(crds: Mapping[str, Mapping[str, Any]], releases: list[str]) -> dict[str, Any]:
    rows = {
        name: {
            **crd,
            "fields": crd["fields"].result(),
            "scales": crd["scales"].result(),
            "rules": [[path, *value, first, last] for path, value, first, last in crd["rules"].result()],
        }
        for name, crd in crds.items()
    }
    return {"releases": releases, "crds": {name: crd for name, crd in rows.items() if crd["fields"]}}


def render(tables: dict[str, Any]) -> str:
    """JSON with a line per row."""

    def rows(name: str, entries: list[Any]) -> str:
        if not entries:
            return f'   "{name}": []'
        lines = ",\n".join("    " + json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in entries)
        return f'   "{name}": [\n{lines}\n   ]'

    crds = ",\n".join(
        f'  "{name}": {{\n   "plural": "{crd["plural"]}", "scope": "{crd["scope"]}",\n'
        f"{rows('scales', crd['scales'])},\n{rows('rules', crd['rules'])},\n{rows('fields', crd['fields'])}\n  }}"
        for name, crd in tables["crds"].items()
    )
    return f'{{\n "releases": {json.dumps(tables["releases"])},\n "crds": {{\n{crds}\n }}\n}}\n'


def main() -> int:
    """Command line."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render(build(Path(sys.argv[1]))), encoding="utf-8")
    print(TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main())
