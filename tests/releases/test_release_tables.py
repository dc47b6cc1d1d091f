"""Label sets are read from Go sources; CRD tables take a release more and give it back, in the order of every release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.karpenter.releases import KNOWN_RELEASES, provider
from tools.core_crds import on_other_core
from tools.crd_tables import TARGET, of_release, with_release, without_later, without_release
from tools.release_labels import differences, label_sets, sets_of

TABLES = json.loads(TARGET.read_text(encoding="utf-8"))

LABELS = """
package v1beta1
const Group = "karpenter.azure.com"
func init() {
	karpv1.WellKnownValuesForRequirements[karpv1.CapacityTypeLabelKey] = sets.New(karpv1.CapacityTypeSpot, karpv1.CapacityTypeOnDemand)
	karpv1.WellKnownValuesForRequirements[LabelZoned] = sets.New("true", Some)
}
var (
	RestrictedLabels = sets.New(
		LabelHidden, // Domain + "/not-this"
	)
	AzureWellKnownLabels = sets.New(
		LabelZoned,
		// LabelHidden,
		LabelMode,
	)
	Some        = "some"
	Domain      = "kubernetes.azure.com"
	LabelZoned  = Group + "/zoned"
	LabelHidden = Group + "/hidden"
	LabelMode   = Domain + "/mode"
)
"""
PROVIDER = """
package labels
const mine = "agent"
func Get() map[string]string {
	labels[v1beta1.LabelMode] = "user"
	labels["example.com/own"] = mine
	return labels
}
func other() { labels[mine] = "x" }
"""
REQUIREMENTS = """
func computeRequirements(x int) {
	scheduling.NewRequirement(corev1.LabelArchStable, corev1.NodeSelectorOpIn, arch),
	scheduling.NewRequirement(v1beta1.LabelZoned, corev1.NodeSelectorOpDoesNotExist),
}
"""
OFFERINGS = """
func (p *Provider) createOfferings(x int) {
	scheduling.NewRequirement(karpv1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, x),
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "pkg/apis/apis.go": "package apis\n",
        "pkg/apis/v1beta1/labels.go": LABELS,
        "pkg/providers/labels/labels.go": PROVIDER,
        "pkg/providers/instancetype/instancetype.go": REQUIREMENTS,
        "pkg/providers/instancetype/instancetypes.go": OFFERINGS,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_label_sets(root: Path) -> None:
    found = label_sets(root)
    assert found.well_known == {"karpenter.azure.com/zoned", "kubernetes.azure.com/mode"}
    assert found.restricted == {"karpenter.azure.com/hidden"}
    assert found.known_values == {
        "karpenter.sh/capacity-type": {"spot", "on-demand"},
        "karpenter.azure.com/zoned": {"true", "some"},
    }
    assert found.computed == {"kubernetes.io/arch", "karpenter.azure.com/zoned"}
    assert found.offering == {"karpenter.sh/capacity-type"}
    assert found.base == {"kubernetes.azure.com/mode", "example.com/own"}


def test_what_cannot_be_read_is_an_error_not_a_smaller_set(root: Path) -> None:
    (root / "pkg/apis/v1beta1/labels.go").write_text(LABELS.replace("LabelMode   =", "LabelMode   = prefix() +"))
    with pytest.raises(ValueError, match="LabelMode is no text"):
        label_sets(root)


def test_differences_of_label_sets() -> None:
    assert list(differences(sets_of(provider("1.14.0")), sets_of(provider("1.13.1")))) == [
        "well_known: new ['karpenter.azure.com/sku-storage-ultra-ssd']",
        "known_values: new ['karpenter.azure.com/sku-storage-ultra-ssd']",
        "computed: new ['karpenter.azure.com/sku-storage-ultra-ssd']",
        "offering: new ['karpenter.azure.com/sku-storage-ultra-ssd']",
    ]


def crd(fields: dict[str, Any], name: str = "things.example.com") -> dict[str, Any]:
    schema = {"type": "object", "properties": fields}
    return {
        "metadata": {"name": name},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}],
        },
    }


def text(**more: Any) -> dict[str, Any]:
    return {"type": "string", **more}


def test_a_release_more_and_less() -> None:
    first = with_release({"releases": [], "crds": {}}, "1", [crd({"a": text(), "b": text(), "c": text()})])
    second = with_release(first, "2", [crd({"a": text(), "c": text(), "d": text(default="x")})])
    assert without_release(second, "2") == first
    for release, names in (("1", ["", "a", "b", "c"]), ("2", ["", "a", "c", "d"])):
        assert [row[0] for row in of_release(second, release)["example.com/v1/Thing fields"]] == names
    with pytest.raises(ValueError, match="1 is not the newest"):
        without_release(second, "1")


def test_every_release_keeps_its_order_when_one_comes() -> None:
    before = without_later(TABLES, "1.14.2")
    assert TABLES["releases"] == list(KNOWN_RELEASES)
    for release in before["releases"]:
        assert of_release(before, release) == of_release(TABLES, release)


def test_rules_of_the_provider_move_to_another_core() -> None:
    rule = {"rule": "self != ''", "message": "empty"}
    own, other = crd({"a": text()}), crd({"a": text(default="x"), "b": text()})
    provided = crd({"a": text(**{"x-kubernetes-validations": [rule]})})
    (made,) = on_other_core([provided], [own], [other])
    fields = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    assert fields == {"a": text(default="x", **{"x-kubernetes-validations": [rule]}), "b": text()}
    with pytest.raises(ValueError, match="no field a"):
        on_other_core([provided], [own], [crd({"b": text()})])
    alone = crd({"z": text()}, "others.example.com")
    assert on_other_core([alone], [own], [other]) == [alone]
