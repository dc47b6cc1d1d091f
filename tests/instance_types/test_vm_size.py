"""Size names, as each release's parser reads them."""

import pytest

from harness.karpenter.instancetypes.vmsize import GRAMMARS

NEW, OLD = GRAMMARS["0.0.24"], GRAMMARS["0.0.21"]


@pytest.mark.parametrize(
    ("size", "family", "series", "version", "accelerator", "constrained"),
    [
        ("D2s_v3", "D", "Ds_v3", "3", None, None),
        ("DS2_v2", "D", "DS_v2", "2", None, None),
        ("D4pls_v6", "D", "Dpls_v6", "6", None, None),
        ("NC24ads_A100_v4", "N", "NCads_v4", "4", "A100", None),
        ("NV6ads_A10_v5", "N", "NVads_v5", "5", "A10", None),
        ("NC6s_v3", "N", "NCs_v3", "3", None, None),
        ("ND96is_MI300X_v5", "N", "NDis_v5", "5", None, None),
        ("E64-16ds_v4", "E", "Eds_v4", "4", None, "16"),
        ("M416s_8_v2", "M", "Ms_v2", "2", None, None),
        ("B20ms", "B", "Bms", "1", None, None),
        ("NC12s_v2_Promo", "N", "NCs_v2", "2", None, None),
        ("A1", "A", "A", "1", None, None),
    ],
)
def test_both_grammars(
    size: str, family: str, series: str, version: str, accelerator: str | None, constrained: str | None
) -> None:
    for grammar in (OLD, NEW):
        parsed = grammar.parse(size)
        assert parsed is not None
        assert (parsed.family, parsed.series, parsed.version_label) == (family, series, version)
        assert (parsed.accelerator, parsed.constrained_cpus) == (accelerator, constrained)


@pytest.mark.parametrize(
    ("size", "accelerator"), [("D2nds_v6", None), ("L8aos_v4", None), ("NC24lds_xl_RTXPRO6000BSE_v6", "RTXPRO6000BSE")]
)
def test_only_the_new_grammar(size: str, accelerator: str | None) -> None:
    assert OLD.parse(size) is None
    parsed = NEW.parse(size)
    assert parsed is not None
    assert parsed.accelerator == accelerator


@pytest.mark.parametrize("size", ["", "D", "2s_v3", "d2s_v3", "D2s_v3 ", "D2s_v10", "D2x_v3"])
def test_not_sizes(size: str) -> None:
    assert NEW.parse(size) is None
