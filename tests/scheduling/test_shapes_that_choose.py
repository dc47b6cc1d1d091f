"""Which pods ask for more than amounts, and what is shared by all sizes of a NodePool."""

from types import SimpleNamespace
from typing import Any

import pytest

from harness.karpenter.scheduling.nodeclaims.pod_fitter import PodFitter
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.pods.shapes import _chooses
from harness.karpenter.scheduling.reasons.pods import VolumeLimitExceeded
from harness.testing import pod


@pytest.mark.parametrize(("terms", "chooses"), [(0, False), (1, False), (2, True)])
def test_a_pod_with_two_terms_has_a_choice(terms: int, chooses: bool) -> None:
    wishes = SimpleNamespace(
        preferred_nodes=[], preferred_pods=[], preferred_anti=[], spread=[], required_nodes=[{}] * terms
    )
    shape: Any = SimpleNamespace(required_pods=[], required_anti=[], preferences=wishes)
    assert _chooses(shape) is chooses


def test_daemons_of_all_sizes_are_those_of_every_group() -> None:
    shared, lone = pod("shared", cpu="1"), pod("lone", cpu="2")
    groups = [SimpleNamespace(pods=(shared, lone)), SimpleNamespace(pods=(shared,))]
    template: Any = SimpleNamespace(groups=groups, index=SimpleNamespace(full=3))
    everywhere = vars(Template)["everywhere"].func(template)
    assert everywhere.pods == (shared,)
    assert everywhere.overhead["cpu"].nano == 10**9


def test_volumes_of_two_drivers_that_no_size_takes_both_of() -> None:
    index = SimpleNamespace(attaching=lambda driver, count: {"disk": 1, "file": 2}[driver])
    nodeclaim: Any = SimpleNamespace(template=SimpleNamespace(index=index), mask=3)
    shape: Any = SimpleNamespace(volume_claims={"disk": {"a"}, "file": {"b"}})
    fitter: Any = None
    assert PodFitter._not_attachable(fitter, nodeclaim, shape) == VolumeLimitExceeded("", 0, 0, new=True)
