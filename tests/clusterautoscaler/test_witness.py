"""Our answers beside those of the real autoscaler, as recorded (README.md)."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.clusterautoscaler.record import recorded_cases
from tests.clusterautoscaler.witness import answer

CASES = recorded_cases()


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["case"]["name"])
def test_as_the_real_one(row: Mapping[str, Any]) -> None:
    assert answer(row["case"]) in row["answers"]


def test_the_recording_says_much() -> None:
    ups = [row["answers"][0] for row in CASES if row["case"]["kind"] == "scale-up"]
    downs = [row["answers"][0][-1] for row in CASES if row["case"]["kind"] == "scale-down"]
    assert len(ups) >= 20
    assert len(downs) >= 20
    assert any(len(up["resizes"]) > 1 for up in ups)
    assert any(up["unhelped"] for up in ups)
    assert any(up["awaiting"] for up in ups)
    assert any(down["empty"] for down in downs)
    assert any(down["drain"] for down in downs)
    reasons = {reason for down in downs for reason in down["unremovable"].values()}
    assert {"NotUnderutilized", "NoPlaceToMovePods", "NodeGroupMinSizeReached", "BlockedByPod/NotEnoughPdb"} <= reasons
