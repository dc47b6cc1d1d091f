"""Steps that change a Job: its status has no generation, which the API server would refuse."""

from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner

TEXT = """\
scenario: a label on a Job
given: {karpenter: 1.14.0, region: westeurope}
when: [{apply: Job/j}, settle, {patch: {of: Job/j, to: {metadata: {labels: {a: b}}}}}, settle]
then: [{objects: {kind: Job, labels: {a: b}, count: 1}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: c}]}}}
"""


def test_a_job_whose_pods_are_there_can_be_changed() -> None:
    (scenario,) = load_text(TEXT, file="j.yaml")
    report = Runner().run(scenario.cases[0])
    assert [verdict for verdict in report.verdicts if not verdict.holds] == []
