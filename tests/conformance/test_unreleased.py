"""The oracle of what is not released: built from other modules than its go.mod names, and only where it is asked for."""

from __future__ import annotations

import json
from itertools import pairwise

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, UNRELEASED, provider
from tests.conformance import build
from tests.conformance.build import BUILDABLE, Module, has_extension, oracle_program, takes_attach_limits
from tests.conformance.cases.clusters.sizes import with_attach_limits
from tests.conformance.cases.draw import Draw


def test_it_is_no_part_of_all_releases() -> None:
    assert build.UNRELEASED == UNRELEASED
    assert set(BUILDABLE) <= set(ALL_PROVIDER_RELEASES)


def test_it_has_the_core_of_the_table() -> None:
    assert Module.of("next").core == f"v{provider('next').core.version}"
    assert Module.of("1.14.0") == Module()


def test_a_file_of_its_own_counts_instead_of_the_common_one() -> None:
    own, common = ({file.name: file for file in oracle_program(name)} for name in ("next", "1.14.0"))
    assert takes_attach_limits("next")
    assert all(has_extension("next", extension) for extension in ("disruption", "overlays", "static"))
    assert not takes_attach_limits("1.14.0")
    assert own["catalog.go"].parent.name == "vnext"
    assert own["schedule.go"] == common["schedule.go"]


def test_a_release_takes_the_glue_before_it_where_it_has_none() -> None:
    found = {release: {file.name: file for file in oracle_program(release)} for release in BUILDABLE}
    assert found["1.6.6"]["disrupt_glue.go"] == found["1.6.5"]["disrupt_glue.go"]
    assert "overlays_glue.go" not in found["1.6.6"]
    assert [release for release in BUILDABLE if has_extension(release, "static")] == ["1.10.2", "1.13.1", "1.14.0"]
    for before, after in pairwise(BUILDABLE):
        for name, file in found[after].items():
            known = found[before].get(name, file)
            assert file == known or file.read_bytes() != known.read_bytes(), "a copy that nobody needs"


def test_cases_have_attach_limits_and_full_reservations_that_can_be_had() -> None:
    offering = {"available": False, "reservation_capacity": 0}
    case = {"instance_types": [{"name": str(number), "offerings": [dict(offering)]} for number in range(20)]}
    before = json.dumps(case)
    made = with_attach_limits(Draw(1), case, {})["instance_types"]
    assert json.dumps(case) == before
    assert {each["offerings"][0]["available"] for each in made} == {True, False}
    assert any(each.get("attach_limits") for each in made)
    plain = {"catalog": "c"}
    assert with_attach_limits(Draw(1), plain, {}) == plain
