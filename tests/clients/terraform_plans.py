"""Terraform or OpenTofu with the provider azapi against a served cloud: `terraform/main.tf` applied, planned, updated in place, destroyed.

`make terraform-client` makes what it needs. HARNESS_TERRAFORM is another command of Terraform or OpenTofu, HARNESS_TERRAFORM_PROVIDERS
the folder of another provider.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.clients.operation import MOST, Outcome, Place, tell

CLIENT = "Terraform azapi"
COMMAND, PROVIDERS = "HARNESS_TERRAFORM", "HARNESS_TERRAFORM_PROVIDERS"
"""Variables with the command and the providers' folder."""
PROVIDER = "terraform-provider-azapi"
HERE = Path(__file__).parent / "terraform"
_STEPS = (
    ("apply", "apply", 1, "create"),
    ("plan after apply", "plan", 1, ""),
    ("update in place", "apply", 2, "update"),
    ("plan after update", "plan", 2, ""),
    ("destroy", "destroy", 2, "delete"),
)
"""Name, command, round of the configuration, and what every resource's plan has to be."""


def needed(environment: Mapping[str, str], venv: Path) -> tuple[str, str] | str:
    """Return the command and the providers' folder, or what is not there. `venv` is the folder that `make terraform-client` fills."""
    python = venv / "bin" / "python"
    command = environment.get(COMMAND) or (f"{python} {HERE / 'command.py'}" if python.exists() else "")
    if not command:
        return (
            f"{python} is not there: make terraform-client makes it; or {COMMAND} is a command of Terraform or OpenTofu"
        )
    folder = Path(environment.get(PROVIDERS) or venv)
    if not (folder / PROVIDER).exists():
        return (
            f"{folder / PROVIDER} is not there: make terraform-client makes it; or {PROVIDERS} is the folder of another"
        )
    return command, str(folder)


class Terraform:
    """A folder in which the commands run, and what they say."""

    def __init__(self, folder: Path, place: Place, command: str, providers: str) -> None:
        """Lay the configuration into the folder; no registry is asked for the provider."""
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "main.tf", folder)
        settings = folder / "settings.tfrc"
        override = f'dev_overrides {{\n "azure/azapi" = {json.dumps(providers)}\n}}'
        settings.write_text(f"provider_installation {{\n{override}\n}}\n")
        self._folder, self._command = folder, shlex.split(command)
        self._environment = {
            **os.environ,
            "TF_CLI_CONFIG_FILE": str(settings),
            "TF_VAR_url": place.url,
            "TF_VAR_subscription": place.subscription,
            "TF_VAR_tenant": place.tenant,
            "CHECKPOINT_DISABLE": "1",
        }

    def run(self, command: str, *options: str, round_: int) -> list[dict[str, Any]]:
        """Return the messages of a command, of which `@level` may be `error`."""
        words = [
            *self._command,
            f"-chdir={self._folder}",
            command,
            "-json",
            "-input=false",
            "-no-color",
        ]
        environment = {**self._environment, "TF_VAR_round": str(round_)}
        ended = subprocess.run(
            [*words, *options], env=environment, capture_output=True, text=True, check=False, timeout=900
        )
        messages = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
        if ended.returncode not in (0, 2) and not any(message.get("@level") == "error" for message in messages):
            messages.append(
                {"@level": "error", "@message": ended.stderr.strip()[-300:] or f"exit code {ended.returncode}"}
            )
        return messages


def addresses() -> list[str]:
    """The resources of the configuration."""
    lines = (HERE / "main.tf").read_text().splitlines()
    return [".".join(line.split('"')[1::2]) for line in lines if line.startswith("resource ")]


def errors(messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return the errors: address of a resource, or empty → in which words."""
    wrong = [message for message in messages if message.get("@level") == "error"]
    return {
        str(message.get("diagnostic", {}).get("address", "")): " ".join(
            f"{message['@message']} {message.get('diagnostic', {}).get('detail', '')}".split()
        )[:600]
        for message in wrong
    }


def planned(messages: list[dict[str, Any]]) -> dict[str, str]:
    """Return the changes of a plan: address of a resource → action."""
    changes = [message["change"] for message in messages if message.get("type") == "planned_change"]
    return {change["resource"]["addr"]: change["action"] for change in changes}


def summarised(messages: list[dict[str, Any]]) -> bool:
    """Return whether a plan or an apply came to its end: it says how much it changes, also where that is nothing."""
    return any(message.get("type") == "change_summary" for message in messages)


def outcomes(terraform: Terraform) -> Iterator[Outcome]:
    """Every step, a row for each resource. That nothing is to change says something only of a resource that was changed before."""
    standing = set[str]()
    for step, command, round_, action in _STEPS[:2] if MOST in os.environ else _STEPS:
        messages = terraform.run(command, *([] if command == "plan" else ["-auto-approve"]), round_=round_)
        changes, wrong = planned(messages), errors(messages)
        ended = {message["hook"]["resource"]["addr"] for message in messages if message.get("type") == "apply_complete"}
        for address in addresses():
            found = changes.get(address, "")
            state, said = "works", ""
            if wrong and address not in ended:
                state, said = "missing", wrong.get(address) or next(iter(wrong.values()))
            elif not wrong and not summarised(messages):
                state, said = "missing", f"{step} does not say how much it changes"
            elif not action and address not in standing:
                state, said = "missing", "the command before it did not work"
            elif found != action:
                state, said = "wrong", f"the plan is {found or 'nothing'}, not {action or 'nothing'}"
            elif action and address not in ended:
                state, said = "missing", f"{action} did not end"
            if action:
                standing = standing | {address} if state == "works" else standing - {address}
            yield Outcome(CLIENT, f"{step}: {address}", state, said)


if __name__ == "__main__":
    tell(outcomes(Terraform(Path(sys.argv[1]), Place.read(), *sys.argv[2:])))
