"""One requirement of Karpenter compared with the expected one."""

from __future__ import annotations

from harness.karpenter.requirements import Requirement
from harness.scenario.expectations.matching import Difference, as_written, show
from harness.scenario.language.models.matchers import RequirementConditions

__all__ = ["render", "requirement_differences"]


def render(requirement: Requirement | None) -> str:
    """Return a requirement as a person writes it: `In [a, b]`, `Exists >=5`, `nothing`."""
    if requirement is None:
        return "nothing"
    text = str(requirement)
    return text.removeprefix(requirement.key).strip()


def requirement_differences(
    wanted: str | RequirementConditions, actual: Requirement | None, path: str = ""
) -> list[Difference]:
    """Return the differences of the requirement from a single value, or from conditions."""
    rendered = render(actual)
    if actual is None:
        return [Difference(path, _render_wanted(wanted), rendered)]
    if isinstance(wanted, str):
        exact = actual.operator == "In" and set(actual.values) == {wanted}
        return [] if exact else [Difference(path, f"In [{wanted}]", rendered)]
    differences: list[Difference] = []

    def expect(holds: bool, expected: str) -> None:
        if not holds:
            differences.append(Difference(path, expected, rendered))

    if wanted.in_ is not None:
        expect(actual.operator == "In" and set(actual.values) == set(wanted.in_), f"In {show(sorted(wanted.in_))}")
    if wanted.not_in is not None:
        holds = actual.operator == "NotIn" and set(actual.values) == set(wanted.not_in)
        expect(holds, f"NotIn {show(sorted(wanted.not_in))}")
    if wanted.operator is not None:
        expect(actual.operator == wanted.operator, wanted.operator)
    for value in wanted.contains or ():
        expect(actual.has(value), f"a requirement that allows {value}")
    for value in wanted.excludes or ():
        expect(not actual.has(value), f"a requirement that does not allow {value}")
    if wanted.gte is not None:
        expect(actual.gte == wanted.gte, f">={wanted.gte}")
    if wanted.lte is not None:
        expect(actual.lte == wanted.lte, f"<={wanted.lte}")
    if wanted.min_values is not None:
        expect(actual.min_values == wanted.min_values, f"minValues {wanted.min_values}")
    return differences


def _render_wanted(wanted: str | RequirementConditions) -> str:
    if isinstance(wanted, str):
        return f"In [{wanted}]"
    return show(as_written(wanted))
