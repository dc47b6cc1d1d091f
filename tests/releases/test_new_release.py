"""The command that reads a release's sources: what it derives equals the tables that are there."""

import csv
from pathlib import Path

import pytest
import yaml

from harness.karpenter.releases import provider, sizes
from tools.new_release import changed, facts, lists, main, read

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
    assert list(facts(found)) == []


def test_what_is_new_is_told(tmp_path: Path) -> None:
    found = read(
        sources(tmp_path / "s", more=("Standard_New_v9",), core="1.15.0", restricted=frozenset({"Standard_A0"}))
    )
    told = "\n".join([*facts(found), *lists(found, "9.9.9", False)])
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
    assert changed(before, after) == {
        "AKSNodeClass (NodeClassFlags)": ["pkg/apis/v1beta1/aksnodeclass.go: +2 -0"],
        "labels and vocabulary (LabelFlags, well_known, known_values)": [
            "pkg/apis/v1beta1/labels.go: +2 -0",
            "pkg/providers/labels/labels.go: +2 -0",
        ],
    }


def test_no_sources(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "1.15.0"]) == 2
    assert "has no sources of the provider" in capsys.readouterr().err
