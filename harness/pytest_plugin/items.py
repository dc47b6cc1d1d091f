"""Scenario files as pytest collectors, and their cases as test functions (so fixtures, marks, -k and --lf work on them)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.pytest_plugin.clusters import runners_of
from harness.pytest_plugin.options import checkout_of, is_compared, release_override
from harness.pytest_plugin.real import compare
from harness.pytest_plugin.session import AHEAD, TAGS, runner_of
from harness.reading.documents import documents, read_text
from harness.reading.problems import ScenarioError
from harness.reports.terminal import Style, render_verdict
from harness.scenario.expectations.verdicts import Outcome, Verdict
from harness.scenario.language.cases import Case
from harness.scenario.language.crds import CelEngineMissing
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner, expected_outcome
from harness.sniffing import is_scenario_file
from plainlines import printable, printable_lines

__all__ = ["ExpectationFailed", "ScenarioFile", "ScenarioItem", "declare_tags"]

_SUFFIXES = (".yaml", ".yml")


class ExpectationFailed(AssertionError):
    """The expectations of a case that do not hold."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        more = f" (and {len(verdicts) - 1} more)" if len(verdicts) > 1 else ""
        super().__init__(printable(f"{verdicts[0].mark}: {verdicts[0].differences[0]}{more}"))
        self.verdicts = tuple(verdicts)


class ScenarioFile(pytest.File):
    """One scenario file. A file with mistakes is a collection error: one line for each mistake, no traceback."""

    def collect(self) -> Iterator[ScenarioItem]:
        """Yield one item for each case."""
        try:
            scenarios = load(
                self.path,
                _display(self.path, self.config),
                release=release_override(self.config),
                checkout=checkout_of(self.config, self.path),
            )
            runner_of(self.config).check_inputs(case for scenario in scenarios for case in scenario.cases)
        except (ScenarioError, CelEngineMissing) as error:
            raise self.CollectError(printable_lines(str(error))) from None
        for scenario in scenarios:
            for case in scenario.cases:
                yield ScenarioItem.from_parent(self, name=printable(case.name), callobj=_function(case), case=case)


class ScenarioItem(pytest.Function):
    """One case of a scenario."""

    def __init__(self, *, case: Case, **arguments: Any) -> None:
        super().__init__(**arguments)
        if hasattr(
            self, "id"
        ):  # pytest from 9.2; it reads its kept ids with the brackets apart, for --last-failed and --stepwise
            self._id = type(self.id).parse(self.nodeid)
        self.case = case
        declared = self.config.stash.setdefault(TAGS, set())
        for tag in case.header.tags:
            if tag not in declared:  # pytest reads all of them again for each mark
                declared.add(tag)
                self.config.addinivalue_line("markers", f"{tag}: tag of scenarios")
            self.add_marker(tag)
        if case.header.skip is not None:
            self.add_marker(pytest.mark.skip(reason=printable(case.header.skip)))
        self.user_properties += [("issue", issue) for issue in case.header.issue or ()]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """Return a failed expectation as expected beside actual, bad input as its lines, any other error as usual."""
        if isinstance(excinfo.value, ExpectationFailed):
            colour = self.config.get_terminal_writer().hasmarkup
            return "\n".join(render_verdict(verdict, Style(colour)) for verdict in excinfo.value.verdicts)
        if isinstance(excinfo.value, ScenarioError) or runners_of(self.config).explains(excinfo.value):
            return printable_lines(str(excinfo.value))
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the file and the line of the header."""
        return self.path, self.case.mark.line - 1, f"scenario: {self.name}"


def _function(case: Case) -> Callable[..., None]:
    def scenario(
        scenario_runner: Runner, subtests: pytest.Subtests, pytestconfig: pytest.Config, request: pytest.FixtureRequest
    ) -> None:
        if is_compared(pytestconfig):
            return compare(case, request.node)
        clusters = runners_of(pytestconfig)
        if clusters.only_memory:
            ahead = pytestconfig.stash.get(AHEAD, None)
            alike = scenario_runner is runner_of(pytestconfig)  # unless a conftest has a fixture of its own
            judged_ahead = ahead(request.node.nodeid) if ahead is not None and alike else None
            verdicts = scenario_runner.verdicts(case) if judged_ahead is None else judged_ahead
        else:
            verdicts = clusters.examine(case)
        outcome, reason = expected_outcome(case, verdicts)
        if outcome is Outcome.EXPECTED_FAILURE:
            pytest.xfail(printable(reason))
        if outcome is Outcome.UNEXPECTED_PASS:
            pytest.fail(printable(f"marked xfail and passes: {reason}"), pytrace=False)
        for verdict in verdicts:
            if verdict.holds:
                with subtests.test(printable(verdict.label)):
                    pass
        failed = [verdict for verdict in verdicts if not verdict.holds]
        if failed:  # the case counts once, with all its failures
            raise ExpectationFailed(failed)

    return scenario


def _display(path: Path, config: pytest.Config) -> str:
    try:
        return str(path.relative_to(config.invocation_params.dir))
    except ValueError:
        return str(path)


def declare_tags(config: pytest.Config) -> None:
    """Declare the tags of all scenario files that the arguments or `testpaths` lead to; files with mistakes are passed over."""
    declared = config.stash.setdefault(TAGS, set())
    for path in _files(config):
        if not is_scenario_file(path):
            continue
        try:
            documents_of_file, _ = documents(read_text(path), str(path))
        except ScenarioError:
            continue
        for document in documents_of_file:
            tags = document.value.get("tags") if document.is_header else None
            declared.update(tag for tag in (tags if isinstance(tags, list) else ()) if isinstance(tag, str))
    for tag in sorted(declared):
        config.addinivalue_line("markers", f"{tag}: tag of scenarios")


def _files(config: pytest.Config) -> list[Path]:
    """Return the YAML files below the arguments, or below pytest's `testpaths` where there are none."""
    paths: list[Path] = []
    for argument in config.args:
        path = config.invocation_params.dir / argument.partition("::")[0]
        inside = path.rglob("*") if path.is_dir() else [path]
        paths += sorted(file for file in inside if file.suffix in _SUFFIXES and file.is_file())
    return paths
