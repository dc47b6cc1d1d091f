"""The data of a sweep's page is its table, column by column."""

from __future__ import annotations

from harness.reports.picture.sweep import sweep_page, sweep_value
from tests.reports.test_picture import data_of

ROWS = [
    {"region": "eastus", "pods": 3, "usd": 1.5, "reason": "", "key": "a"},
    {"region": "westus", "pods": None, "usd": None, "reason": "", "key": "b"},
    {"region": "eastus", "pods": 3, "usd": 2.5, "reason": "</script>", "key": "c"},
]


def test_columns_of_texts_name_each_text_once() -> None:
    value = sweep_value("t", ["region"], ROWS, over_time=False)
    assert value["columns"] == {
        "region": {"texts": ["eastus", "westus"], "at": [0, 1, 0]},
        "pods": [3, None, 3],
        "usd": [1.5, None, 2.5],
        "reason": {"texts": ["", "</script>"], "at": [0, 0, 1]},
    }
    assert (value["axes"], value["count"], value["over_time"]) == (["region"], 3, False)


def test_the_page_holds_its_data() -> None:
    document = sweep_page("</title>", ["region"], ROWS, over_time=True)
    assert data_of(document) == sweep_value("</title>", ["region"], ROWS, over_time=True)
    assert document.count("</script>") == 2
    assert sweep_value("t", [], [], over_time=False)["columns"] == {}
