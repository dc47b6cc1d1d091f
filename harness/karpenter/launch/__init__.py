"""From a NodeClaim to the bodies that are sent to Azure, and back to the NodeClaim that core sees.

:func:`plan` is the way in. Every label keeps its layers and sources (:mod:`~harness.karpenter.launch.labels.layers`); failures of Azure
are classified by :mod:`~harness.karpenter.launch.failures.handlers`.
"""

from harness.karpenter.launch.choice import (
    Choice,
    LaunchTypes,
    choose,
    claim_requirements,
    overlaid_types,
    resolve_instance_types,
)
from harness.karpenter.launch.environment import LaunchEnvironment
from harness.karpenter.launch.failures.errors import FailureKind, LaunchError
from harness.karpenter.launch.failures.handlers import AzureFailure, Verdict, classify
from harness.karpenter.launch.inputs import Launch
from harness.karpenter.launch.labels.layers import Labels, Source
from harness.karpenter.launch.nodeclaim import Created, populated_labels
from harness.karpenter.launch.plan import MachinePlan, VmPlan, plan

__all__ = [
    "AzureFailure",
    "Choice",
    "Created",
    "FailureKind",
    "Labels",
    "Launch",
    "LaunchEnvironment",
    "LaunchError",
    "LaunchTypes",
    "MachinePlan",
    "Source",
    "Verdict",
    "VmPlan",
    "choose",
    "claim_requirements",
    "classify",
    "overlaid_types",
    "plan",
    "populated_labels",
    "resolve_instance_types",
]
