"""The questions and plans of `harness attach` before it writes to a cluster of somebody else, and its words after."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from harness.cli.output import print_json
from harness.cli.worlds import InputError
from harness.outputs import write_text
from plainlines import print_line

if TYPE_CHECKING:
    from harness.clusters.remote.belongings import Leftover
    from harness.clusters.remote.foreign import ForeignCluster
    from harness.scenario.language.cases import Case

__all__ = ["Target", "check_run", "write_private"]

_RUN = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""The value of a label (apimachinery pkg/util/validation/validation.go, IsValidLabelValue)."""


def check_run(run: str) -> None:
    """Raise InputError for a text that cannot be the name of a run."""
    if not _RUN.fullmatch(run):
        raise InputError(f"--clean: {run!r} is no name of a run; harness attach prints it when it begins")


class Target:
    """The cluster that a command works on, and the words in which it is named."""

    def __init__(self, cluster: ForeignCluster, kubeconfig: Path | None) -> None:
        self.cluster = cluster
        self._kubeconfig = kubeconfig
        self.place = f"context {cluster.name} ({cluster.admin.endpoint.url})"

    def confirm(self, action: str, *, named: bool, yes: bool) -> None:
        """Ask whether it is the right cluster, unless its context is `named` or the answer is `yes`. Raises InputError for a no."""
        if named or yes:
            return
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise InputError(
                f"--context: none is named, and nobody can be asked here: --context {quote(self.cluster.name)}, or --yes "
                f"for the current one, {self.place}"
            )
        print_line(f"{action} on {self.place}; go on? [y/N]", error=True, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise InputError(f"nothing was done on {self.place}")

    def in_the_way(self, cases: Sequence[Case]) -> list[str]:
        """Return the objects on the cluster that the cases would create, and those of Karpenter's that they would be about."""
        from harness.scenario.comparing.attached_runs import planned_objects

        planned = [obj for case in cases for obj in planned_objects(case)]
        clashes = self.cluster.belongings.clashes(planned)
        return list(dict.fromkeys((*clashes, *self.cluster.left_by_others())))

    def check_free(self, cases: Sequence[Case]) -> None:
        """Raise InputError that names all of `in_the_way`."""
        if present := self.in_the_way(cases):
            raise InputError(
                f"{', '.join(present)} {'is' if len(present) == 1 else 'are'} on context {self.cluster.name} already, and the "
                "scenario would change or be about what is not its own: delete it first, with `harness attach --clean RUN` where "
                "it is of a run"
            )

    def print_plan(self, cases: Sequence[Case], form: str) -> bool:
        """Print the plan of a run; return whether it could begin."""
        from harness.clusters.remote.ownership import reference_of
        from harness.scenario.comparing.attached_runs import planned_objects
        from harness.scenario.running.tracing import step_text

        present = self.in_the_way(cases)
        plans: list[dict[str, Any]] = [
            {
                "case": case.name,
                "creates": list(dict.fromkeys(map(reference_of, planned_objects(case)))),
                "steps": [step_text(case, index) for index in range(len(case.header.when))],
            }
            for case in cases
        ]
        if form == "json":
            print_json({"context": self.cluster.name, "inTheWay": present, "cases": plans})
            return not present
        lines = [f"on {self.place}"]
        for plan in plans:
            steps = [f"  step {step}" for step in plan["steps"]]
            lines += [f"{plan['case']}:", *(f"  create {reference}" for reference in plan["creates"]), *steps]
        lines.append(
            "and for each case: the namespaces of these objects and ServiceAccount/kube-system/karpenter, where they are not there; "
            "a Node and its Lease for each machine that Karpenter orders; at the end all of it is deleted"
        )
        for line in (*lines, *(f"in the way: {reference}" for reference in present)):
            print_line(line)
        return not present

    def interrupted(self) -> str:
        """Return the objects on the cluster when a signal comes, and that they are about to go."""
        present = ", ".join(map(str, self.cluster.belongings.left())) or "nothing of this run"
        return (
            f"harness attach: interrupted; on context {self.cluster.name} there is {present}; it is being removed, and another signal "
            f"leaves it for `{self._command()}`"
        )

    def remains(self, left: Sequence[Leftover] | None) -> str:
        """Return the objects that are left, and the command that removes them, in one line; `None`: they are not known."""
        if left is None:
            return f"what is left on context {self.cluster.name} is not known; to remove it: {self._command()}"
        if not left:
            return f"nothing is left on context {self.cluster.name}"
        command = self._command()
        if any(leftover.awaits_karpenter for leftover in left):
            command += " --controller PROGRAM (Karpenter has to let go of what has its finalizer)"
        return f"left on context {self.cluster.name}: {', '.join(map(str, left))}; to remove it: {command}"

    def _command(self) -> str:
        command = f"harness attach --clean {self.cluster.run} --context {quote(self.cluster.name)}"
        if self._kubeconfig is not None:
            command += f" --kubeconfig {quote(str(self._kubeconfig))}"
        return command


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read; whoever waits for it finds all of it. Raises OSError."""
    if path.is_file():
        os.chmod(path, 0o600)  # what replaces it has its permissions
    write_text(path, text, mode=0o600)
