"""The part of Azure that is real and not emulated here: a request to it is answered `NotEmulated`, not with an error of
Azure's.

Sources: the namespaces that azure-cli's SDKs of November 2026 send, and "Resource providers for Azure services" (learn.microsoft.com).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from fakeazure.arm.errors import ArmError
from fakeazure.arm.texts import refuse

_NAMES = """
    Microsoft.AAD Microsoft.Advisor Microsoft.AlertsManagement Microsoft.ApiManagement Microsoft.App Microsoft.AppConfiguration
    Microsoft.AppPlatform Microsoft.Attestation Microsoft.Automation Microsoft.AzureFleet Microsoft.Batch Microsoft.Billing
    Microsoft.BotService Microsoft.Cache Microsoft.Capacity Microsoft.Cdn Microsoft.CertificateRegistration Microsoft.Chaos
    Microsoft.ClassicCompute Microsoft.ClassicNetwork Microsoft.ClassicStorage Microsoft.CognitiveServices Microsoft.Communication
    Microsoft.ComputeSchedule Microsoft.ConfidentialLedger Microsoft.Confluent Microsoft.Consumption Microsoft.ContainerInstance
    Microsoft.ContainerRegistry Microsoft.CostManagement Microsoft.Dashboard Microsoft.DataBoxEdge Microsoft.Databricks
    Microsoft.Datadog Microsoft.DataFactory Microsoft.DataLakeStore Microsoft.DataMigration Microsoft.DataProtection
    Microsoft.DBforMariaDB Microsoft.DBforMySQL Microsoft.DBforPostgreSQL Microsoft.DesktopVirtualization Microsoft.DevCenter
    Microsoft.Devices Microsoft.DevTestLab Microsoft.DocumentDB Microsoft.DomainRegistration Microsoft.Elastic Microsoft.EventGrid
    Microsoft.EventHub Microsoft.ExtendedLocation Microsoft.Fabric Microsoft.GuestConfiguration Microsoft.HDInsight
    Microsoft.HealthcareApis Microsoft.Help Microsoft.HybridCompute Microsoft.Insights Microsoft.IoTCentral Microsoft.KeyVault
    Microsoft.Kubernetes Microsoft.KubernetesConfiguration Microsoft.Kusto Microsoft.LoadTestService Microsoft.Logic
    Microsoft.MachineLearningServices Microsoft.Maintenance Microsoft.ManagedServices Microsoft.Management Microsoft.Maps
    Microsoft.MarketplaceOrdering Microsoft.Media Microsoft.Migrate Microsoft.Monitor Microsoft.NetApp Microsoft.OperationalInsights
    Microsoft.OperationsManagement Microsoft.Peering Microsoft.PolicyInsights Microsoft.Portal Microsoft.PowerBIDedicated
    Microsoft.Purview Microsoft.Quota Microsoft.RecoveryServices Microsoft.RedHatOpenShift Microsoft.Relay Microsoft.ResourceConnector
    Microsoft.ResourceHealth Microsoft.Search Microsoft.Security Microsoft.SecurityInsights Microsoft.ServiceBus Microsoft.ServiceFabric
    Microsoft.ServiceLinker Microsoft.SignalRService Microsoft.Solutions Microsoft.Sql Microsoft.SqlVirtualMachine Microsoft.StandbyPool
    Microsoft.Storage Microsoft.StorageCache Microsoft.StorageSync Microsoft.StreamAnalytics Microsoft.Support Microsoft.Synapse
    Microsoft.VirtualMachineImages Microsoft.VoiceServices Microsoft.Web
"""
REAL_NAMESPACES: Mapping[str, str] = MappingProxyType({name.lower(): name for name in _NAMES.split()})
"""Name in small letters → as Azure spells it."""
COVERAGE = "/_fakeazure/coverage"
"""The page that lists what is emulated."""
_OPERATIONS = Path(__file__).with_name("real_operations.txt")


@cache
def _operations() -> Mapping[tuple[str, str], tuple[str, frozenset[str]]]:
    """(namespace, type) in small letters → both as Azure spells them, and the methods that the type has."""
    operations: dict[tuple[str, str], tuple[str, frozenset[str]]] = {}
    namespace = ""
    for line in _OPERATIONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            namespace = line
            continue
        type_, *methods = line.split()
        operations[namespace.lower(), type_.lower()] = (f"{namespace}/{type_}", frozenset(methods))
    return MappingProxyType(operations)


def real_operation(method: str, path: str) -> str | None:
    """Return what Azure has at a path that is not served: a namespace, a type, a type's method. None if that is nothing real.

    Whether a segment is a name or an action is not known, so both readings are tried.
    """
    namespace, *segments = f"/{path.strip('/')}".rpartition("/providers/")[2].split("/")
    if namespace.lower() in REAL_NAMESPACES:
        return REAL_NAMESPACES[namespace.lower()]
    for types in ("/".join(segments[::2]), "/".join((*segments[:-1:2], *segments[-1:]))):
        operation = _operations().get((namespace.lower(), types.lower()))
        if operation is not None:
            name, methods = operation
            return name if method in methods else None
    return None


def not_emulated(base_url: str, operation: str) -> ArmError:
    """Return the refusal of what is real and not here; `base_url` is where the page that lists what is here is."""
    return refuse("NotEmulated", operation=operation, page=f"{base_url}{COVERAGE}")
