"""The effects of an upgrade of the provider on NodePools, AKSNodeClasses and pods."""

from harness.explain.upgrade.check import UpgradeCheck
from harness.explain.upgrade.findings import Effect, Finding

__all__ = ["Effect", "Finding", "UpgradeCheck"]
