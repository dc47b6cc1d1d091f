"""Namespaces of Azure that are real and not emulated here: a request to one is answered `NotEmulated`, not with an error of Azure's.

Sources: the namespaces that azure-cli's SDKs of November 2026 send, and "Resource providers for Azure services" (learn.microsoft.com).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
