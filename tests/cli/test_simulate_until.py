"""`harness simulate --until`: nodes leave while virtual time passes."""

import json

from tests.cli.command import call
from tests.disruption.test_world import NODECLASS, deployment, pool


def test_moves_with_their_prices(capsys, tmp_path):
    path = tmp_path / "all.json"
    items = [NODECLASS, pool(expireAfter="3h"), deployment("web", 3)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, out, _ = call(capsys, "simulate", str(path), "--until", "4h", "--format", "json")
    assert code == 0
    found = json.loads(out)["until"]
    (move,) = found["moves"]
    assert (move["reason"], move["decision"], move["replacements"]) == ("Expired", "delete", [])
    assert found["price_before"] == found["price_after"] == -move["price"]


def test_an_hour_without_a_change_ends_it(capsys, tmp_path):
    path = tmp_path / "all.json"
    items = [NODECLASS, pool(), deployment("web", 3)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    code, out, _ = call(capsys, "simulate", str(path), "--until", "settled", "--format", "json")
    assert code == 0
    assert json.loads(out)["until"]["seconds"] == 7200


def test_a_time_that_is_none(capsys):
    code, _, err = call(capsys, "simulate", "x.yaml", "--until", "soon")
    assert code == 2
    assert err == "harness simulate: --until: a duration such as 72h, or settled, is expected, not 'soon'\n"
