"""The command that reads a release's sources: what it derives equals the tables that are there."""

import csv
import os
from pathlib import Path

import pytest
import yaml

from harness.karpenter.releases import KNOWN_RELEASES, provider, sizes
from tests.conformance.build import find_source
from tools.new_release import compared_with, facts, lists, main, read
from tools.release_decisions import DECISIONS, Decision, changed, merged, problems
from tools.release_decisions import read as read_decisions

NEWEST = provider("1.14.0")


def sources(
    root: Path, *, more: tuple[str, ...] = (), core: str = "1.14.0", restricted: frozenset[str] = NEWEST.restricted_skus
) -> Path:
    """A folder with the sources of 1.14.0 as far as the command reads them."""
    here = root / "pkg/providers/instancetype"
    here.mkdir(parents=True)
    (root / "pkg/utils").mkdir()
    (root / "go.mod").write_text(
        f"require (\n\tgithub.com/Azure/skewer v{NEWEST.skewer}\n\tsigs.k8s.io/karpenter v{core}\n)\n"
    )
    known = sorted(sizes.known_skus("1.14.0") | set(more))
    (here / "known_skus.yaml").write_text(yaml.safe_dump([{"name": name, "family": "f"} for name in known]))
    names = ",\n".join(f'\t\t"{name}"' for name in sorted(restricted))
    (here / "skus.go").write_text(f"var (\n\tAKSRestrictedVMSizes = sets.New(\n{names},\n\t)\n)\n")
    gpus = {
        name: {"gpu": gpu.manufacturer, "os": [*sorted(gpu.systems), "windows"]}
        for name, gpu in sizes.gpu_sizes("1.14.0").items()
    }
    (root / "pkg/utils/supported-gpus.yaml").write_text(yaml.safe_dump(gpus))
    return root


def rows(path: Path) -> list[dict[str, str]]:
    return sorted(csv.DictReader(path.read_text().splitlines()), key=lambda row: (row["sku"], row["releases"]))


def without_1_14(target: Path) -> Path:
    """The tables as they were before 1.14.0."""
    target.mkdir()
    for table in ("known_skus", "gpus"):
        present = rows(Path(sizes.__file__).parent / "data" / f"{table}.csv")
        with (target / f"{table}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(present[0]))
            writer.writeheader()
            for row in present:
                names = [name for name in row["releases"].split("|") if name != "1.14.0"]
                if names:
                    writer.writerow(row | {"releases": "|".join(names)})
    return target


def test_1_14_0_made_anew_equals_what_is_there(tmp_path: Path) -> None:
    found, data = read(sources(tmp_path / "s")), without_1_14(tmp_path / "data")
    told = list(lists(found, "1.14.0", True, data))
    assert [line.partition(":")[0] for line in told if not line.startswith("  ")] == [
        'known_skus="1.14.0"',
        'gpu_registry="1.14.0"',
    ]
    for table in ("known_skus", "gpus"):
        assert rows(data / f"{table}.csv") == rows(Path(sizes.__file__).parent / "data" / f"{table}.csv")


def test_a_list_that_is_there_already_is_named(tmp_path: Path) -> None:
    found = read(sources(tmp_path / "s"))
    assert list(lists(found, "9.9.9", False)) == [
        'known_skus="1.14.0": 1502 sizes, the list of 1.14.0',
        'gpu_registry="1.14.0": 89 sizes, the list of 1.14.0',
    ]
    assert list(facts(found, NEWEST)) == []


def test_what_is_new_is_told(tmp_path: Path) -> None:
    found = read(
        sources(tmp_path / "s", more=("Standard_New_v9",), core="1.15.0", restricted=frozenset({"Standard_A0"}))
    )
    told = "\n".join([*facts(found, NEWEST), *lists(found, "9.9.9", False)])
    assert 'core="1.15.0": CORE_RELEASES' in told
    assert "restricted_skus: new [], gone ['Basic_A0'" in told
    assert 'known_skus="9.9.9": 1503 sizes, 1 new, 0 gone\n  + Standard_New_v9' in told


def test_changed_files_by_what_they_concern(tmp_path: Path) -> None:
    before, after = sources(tmp_path / "a"), sources(tmp_path / "b")
    for name in (
        "pkg/providers/labels/labels.go",
        "pkg/apis/v1beta1/aksnodeclass.go",
        "pkg/apis/v1beta1/labels.go",
        "pkg/x_test.go",
    ):
        (after / name).parent.mkdir(parents=True, exist_ok=True)
        (after / name).write_text("a\nb\n")
    assert list(changed(before, after)) == [
        Decision("AKSNodeClass (NodeClassFlags)", "pkg/apis/v1beta1/aksnodeclass.go", "+2 -0"),
        Decision("labels and vocabulary (LabelFlags, well_known, known_values)", "pkg/apis/v1beta1/labels.go", "+2 -0"),
        Decision(
            "labels and vocabulary (LabelFlags, well_known, known_values)", "pkg/providers/labels/labels.go", "+2 -0"
        ),
    ]


def test_a_decision_stays_until_the_file_changes() -> None:
    known = [Decision("c", "a.go", "+1 -0", "flags: crds"), Decision("c", "b.go", "+1 -0", "flags: crds")]
    found = [Decision("c", "a.go", "+1 -0"), Decision("c", "b.go", "+2 -0")]
    assert [row.decision for row in merged(found, known)] == ["flags: crds", ""]


@pytest.mark.parametrize(
    ("decision", "problem"),
    [
        ("", "a.go: not decided (c)"),
        ("flags: trusted_launch, crds; the rest is the same", None),
        ("flags: trusted_lunch", "a.go: no flag is called trusted_lunch"),
        ("nothing: it is about metrics", None),
        ("nothing: x", "a.go: no reason"),
        ("later", "a.go: a decision begins with 'flags: ', 'nothing: ' or 'open: '"),
    ],
)
def test_decisions_are_judged(decision: str, problem: str | None) -> None:
    assert list(problems([Decision("c", "a.go", "+1 -0", decision)])) == ([problem] if problem else [])


def test_everything_is_decided_since_decisions_are_kept() -> None:
    """A release that is newer than 1.14.2 has its decisions, and no file is left open."""
    since = KNOWN_RELEASES[KNOWN_RELEASES.index("1.14.2") + 1 :]
    assert {path.stem for path in DECISIONS.glob("*.csv")} == set(since)
    for version in since:
        rows = read_decisions(DECISIONS / f"{version}.csv")
        assert len(rows) > 10
        assert list(problems(rows)) == []
        assert [row.file for row in rows if row.decision.startswith("open: ")] == []


def test_a_release_that_replaces_core_by_a_commit_has_the_later_version(tmp_path: Path) -> None:
    root = sources(tmp_path / "s", core="1.12.0")
    with (root / "go.mod").open("a") as file:
        file.write("replace sigs.k8s.io/karpenter => github.com/kubernetes-sigs/karpenter v1.12.1-0.2026-7e9d\n")
    assert read(root).core == "1.12.1"


def test_what_a_release_is_compared_with() -> None:
    assert [compared_with(name).version for name in ("1.13.1", "next", "9.9.9")] == ["1.13.1", "next", "1.14.2"]


@pytest.mark.skipif("KARPENTER_SOURCES" not in os.environ, reason="KARPENTER_SOURCES names no folder with sources")
@pytest.mark.parametrize("version", ["1.12.2", "1.13.1", "1.14.0", "1.14.2"])
def test_what_is_derived_from_the_real_sources_is_what_is_there(
    version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = find_source(version)
    if source is None:
        pytest.skip(f"no sources of {version}")
    root = tmp_path / "sources"
    source.unpack(root)
    assert main([str(root), version]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"Read, beside {version}:"
    kinds = [line.split("=")[0].split(":")[0].strip() for line in told[1:]]
    assert kinds == ["known_skus", "gpu_registry", "crds"], told
    assert "NOT" not in told[-1]


def test_no_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "1.15.0"]) == 2
    assert "has no sources of the provider" in capsys.readouterr().err
