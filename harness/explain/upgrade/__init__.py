"""What an upgrade of the provider does to NodePools, AKSNodeClasses and pods."""

from harness.explain.upgrade.check import Effect, Finding, UpgradeCheck

__all__ = ["Effect", "Finding", "UpgradeCheck"]
