"""Scenario files under pytest: items, ids, marks, subtests, mistakes, fixtures."""

from __future__ import annotations

import pytest

from tests.plainlines.test_printing import commands, obeyed
from tests.plugin.inside import run

FILE = """
scenario: sizes
tags: [fast]
matrix: {karpenter: [1.13.1, 1.14.0]}
then:
- requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}
- requirements: {of: Standard_D2s_v5, are: {karpenter.azure.com/sku-cpu: 4}}
---
scenario: later
skip: not yet
then: [{pods: {bound: 1}}]
---
scenario: known
xfail: {reason: broken}
then: [{pods: {bound: 1}}]
---
scenario: repaired
xfail: {reason: was broken}
then: [{pods: {bound: 0}}]
"""


def test_items_outcomes_and_texts(project: pytest.Pytester) -> None:
    project.makefile(".yaml", web=FILE)
    result = run(project, "web.yaml", "-rA")
    result.assert_outcomes(failed=3, skipped=1, xfailed=1)  # the two wrong cases, each once, and the repaired one
    result.stdout.fnmatch_lines(
        [
            "*web.yaml:6:45: then[[]1[]].requirements.are.karpenter.azure.com/sku-cpu",
            "*expected  In [[]4[]]",
            "*found     In [[]2[]]",
            "*marked xfail and passes: was broken*",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_case_with_two_wrong_expectations_fails_once(project: pytest.Pytester) -> None:
    wrong = "- requirements: {of: Standard_D2s_v5, are: {karpenter.azure.com/sku-cpu: 4}}\n"
    project.makefile(".yaml", web=f"scenario: twice\nthen:\n{wrong}- pods: {{bound: 0}}\n{wrong}")
    result = run(project, "web.yaml")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*web.yaml:3:*", "*web.yaml:5:*", "FAILED web.yaml::twice - *"])


@pytest.mark.parametrize("quiet", [(), ("-q",), ("-q", "-q")])
def test_progress_ends_at_100_percent(project: pytest.Pytester, quiet: tuple[str, ...]) -> None:
    many = "".join("- pods: {bound: 0}\n" for _ in range(150))
    project.makefile(".yaml", web=f"scenario: many\nthen:\n{many}---\nscenario: one\nthen: [{{pods: {{bound: 0}}}}]\n")
    result = run(project, "web.yaml", *quiet)
    assert [line.rpartition("[")[2] for line in result.stdout.lines if line.endswith("%]")] == ["100%]"]


def test_tags_are_listed_with_the_markers(project: pytest.Pytester) -> None:
    project.makefile(".yaml", web=FILE, bad="scenario: x\ntags: [slow, 1]\nthen: [\n")
    lines = run(project, "--markers").stdout.lines
    assert "@pytest.mark.fast: tag of scenarios" in lines
    assert (
        run(project, "-m", "fast", "--collect-only", "-q").ret == pytest.ExitCode.INTERRUPTED
    )  # the other file has a mistake


@pytest.mark.parametrize(
    ("arguments", "selected"),
    [(("-k", "sizes and 1.14.0"), 1), (("-m", "fast"), 2), (("web.yaml::sizes[1.13.1]",), 1)],
)
def test_selection(project: pytest.Pytester, arguments: tuple[str, ...], selected: int) -> None:
    project.makefile(".yaml", web=FILE)
    result = run(project, "--collect-only", "-q", *arguments)
    assert len([line for line in result.stdout.lines if line.startswith("web.yaml::")]) == selected


def test_cases_that_failed_are_found_again(project: pytest.Pytester) -> None:
    project.makefile(".yaml", web=FILE)

    def again(*arguments: str) -> pytest.RunResult:
        return project.runpytest_inprocess("-p", "no:xdist", "web.yaml", "-k", "sizes or later", *arguments)

    again().assert_outcomes(failed=2, skipped=1)
    again("--last-failed").assert_outcomes(failed=2, deselected=3)
    again("--stepwise", "-k", "sizes and 1.14.0").assert_outcomes(failed=1, deselected=4)
    again("--stepwise").assert_outcomes(failed=1, deselected=3)  # it begins where it ended


def test_mistakes_are_collection_errors_without_traceback(project: pytest.Pytester) -> None:
    project.makefile(".yaml", bad="scenario: x\ngiven: {karpenter: 9.9.9}\nthen: [{requirments: {}}]\n")
    project.makefile(".yaml", release="scenario: x\ngiven: {karpenter: 9.9.9}\nthen: [{pods: {bound: 0}}]\n")
    result = run(project)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "bad.yaml:3:9: then[[]0[]].requirments: unknown key 'requirments'; did you mean 'requirements'?",
            "release.yaml:2:9: given.karpenter: unknown release '9.9.9'*",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_other_yaml_is_left_alone(project: pytest.Pytester) -> None:
    project.makefile(".yaml", manifest="apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", data="a: [1\n")
    assert run(project).ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_broken_file_among_scenarios_is_not_overlooked(project: pytest.Pytester) -> None:
    folder = project.mkdir("scenarios")
    (folder / "typo.yaml").write_text("senario: x\n")
    result = run(project)
    result.stdout.fnmatch_lines(["*neither a scenario nor a Kubernetes object*did you mean 'scenario'?"])


def test_release_option(project: pytest.Pytester) -> None:
    project.makefile(".yaml", web="scenario: x\nthen: [{pods: {bound: 0}}]\n")
    run(project, "--release", "1.13.1").assert_outcomes(passed=1)
    result = run(project, "--release", "1.1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--release: unknown release '1.1'; did you mean*"])


def test_fixtures_for_tests_in_python(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.world(karpenter="1.13.1", azure={"quota": {"cores": 0}})
        def test_world(world, azure):
            assert world.release.version == "1.13.1"
            assert world.list("Node") == []
            assert azure is world.cloud
            assert azure.market.quota.limit("eastus", "cores") == 0

        def test_another(world):
            assert world.release.version == "1.14.0"
        """
    )
    run(project).assert_outcomes(passed=2)


def test_crds_option(project: pytest.Pytester) -> None:
    project.makefile(".yaml", web="scenario: x\nthen: [{pods: {bound: 0}}]\n")
    run(project, "--crds", "1.13.1").assert_outcomes(passed=1)
    result = run(project, "--crds", "nowhere")
    assert result.ret != pytest.ExitCode.OK
    assert "--crds: unknown release 'nowhere', and no directory" in result.stdout.str() + result.stderr.str()


QUESTION = """
scenario: a question beside what happens
given: {karpenter: 1.14.0, kubernetes: 1.36.3}
then:
- labels: {are: {team: {nodepool: yes}}}
- node: {of: Pod/web, labels: {kubernetes.io/arch: {writes: [{by: kubelet, kind: set}]}}}
---
{apiVersion: karpenter.azure.com/v1beta1, kind: AKSNodeClass, metadata: {name: default}, spec: {}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}, requirements: []}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}
"""


def test_a_question_leaves_the_cluster_of_its_scenario_alone(project: pytest.Pytester) -> None:
    """To answer it, worlds are made: they are in memory, since the cluster has what the other expectations look at."""
    project.makefile(".yaml", web=QUESTION)
    result = run(project, "web.yaml", "--cluster", "memory,http", "-rA")
    result.assert_outcomes(passed=1)


HOSTILE = r"qa\x1b[31m\u202e\n::error::injected ##[error]x\u2028qz"


def test_the_name_of_an_item_has_nothing_to_obey(project: pytest.Pytester) -> None:
    """Whatever other plugins do with it."""
    file = project.makefile(".yaml", web=f'scenario: "{HOSTILE}"\nthen: [{{pods: {{bound: 0}}}}]\n')
    items, _ = project.inline_genitems(file)
    assert [item.name.isprintable() for item in items] == [True]


def test_nothing_of_a_file_is_obeyed_where_pytest_prints_it(project: pytest.Pytester) -> None:
    wrong = f'scenario: "{HOSTILE}"\nthen: [{{pods: {{bound: 1}}}}, {{exists: {{object: "Node/{HOSTILE}"}}}}]\n'
    skipped = f'---\nscenario: skipped\nskip: "{HOSTILE}"\nthen: [{{pods: {{bound: 1}}}}]\n'
    known = f'---\nscenario: known\nxfail: {{reason: "{HOSTILE}"}}\nthen: [{{pods: {{bound: 1}}}}]\n'
    late = f'---\nscenario: late\nwhen: [{{delete: ["Pod/{HOSTILE}"]}}]\nthen: [{{pods: {{bound: 0}}}}]\n'
    project.makefile(".yaml", web=wrong + skipped + known + late, bad=f'scenario: s\nthen:\n- "{HOSTILE}": 1\n')
    for words in (("web.yaml", "-rA", "-vv"), ("web.yaml", "--collect-only", "-q"), ("bad.yaml",)):
        shown = str(run(project, *words, "--color=no").stdout)
        assert "qa\\x1b[31m" in shown
        assert set(obeyed(shown)) <= {"\n"}
        assert commands(shown) == []
        assert [line for line in shown.split("\n") if line.lstrip().startswith("\\x3a")] == []
