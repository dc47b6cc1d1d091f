"""The options about which Karpenter runs."""

from __future__ import annotations

import pytest

from harness.pytest_plugin.option_group import OptionGroup

__all__ = ["add_real_options", "is_compared", "karpenters", "real_limit"]

_BOTH = ("simulated", "real")

REAL_CLUSTERS = ("memory", "http", "apiserver", "kind")
"""Where the real one can work. In memory is the same as http: an API server over HTTPS for each case."""


def add_real_options(group: OptionGroup) -> None:
    """Declare the options."""
    group.addoption(
        "--karpenter",
        default="simulated",
        metavar="NAMES",
        help="which Karpenter runs: simulated (default); simulated,real runs each case under both, the real one by HARNESS_KARPENTER, "
        "and fails where something else comes of it",
    )
    group.addoption(
        "--record",
        metavar="DIR",
        help="with --karpenter simulated,real: write what came of each real run into this folder",
    )
    group.addoption(
        "--kept-differences",
        metavar="FILE",
        help="known differences from the real Karpenter, with their reasons (default: tests/real/differences.yaml, if it is there)",
    )
    group.addoption(
        "--real-limit",
        metavar="DURATION",
        help="with --karpenter simulated,real: how much virtual time a case may take to be run in real time as well (default 1m)",
    )


def karpenters(config: pytest.Config) -> tuple[str, ...]:
    """The names of `--karpenter`; a usage error for others."""
    names = tuple(filter(None, (name.strip() for name in config.getoption("scenarios_karpenter").split(","))))
    if names not in (("simulated",), _BOTH):
        raise pytest.UsageError(f"--karpenter {config.getoption('scenarios_karpenter')}: simulated, or simulated,real")
    if len(names) == 1 and config.getoption("scenarios_record") is not None:
        raise pytest.UsageError("--record is about --karpenter simulated,real")
    if len(names) == 1 and config.getoption("scenarios_real_limit") is not None:
        raise pytest.UsageError("--real-limit is about --karpenter simulated,real")
    real_limit(config)
    if len(names) > 1 and config.getoption("scenarios_cluster") not in REAL_CLUSTERS:
        raise pytest.UsageError(
            f"--cluster {config.getoption('scenarios_cluster')}: --karpenter simulated,real has one of {', '.join(REAL_CLUSTERS[1:])}"
        )
    return names


def real_limit(config: pytest.Config) -> float:
    """Seconds of `--real-limit`; a usage error for what is no duration."""
    from harness.scenario.comparing.limit import limit_of

    try:
        return limit_of(config.getoption("scenarios_real_limit"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def is_compared(config: pytest.Config) -> bool:
    """Return whether the real one runs, too."""
    return bool(config.getoption("scenarios_karpenter") != "simulated") and len(karpenters(config)) > 1
