# What somebody keeps in Terraform who runs machines and Karpenter on Azure. `round` changes what Azure changes in place.
terraform {
  required_providers {
    azapi = { source = "azure/azapi" }
  }
}

variable "url" { type = string }
variable "subscription" { type = string }
variable "tenant" { type = string }
variable "round" { type = number }

provider "azapi" {
  endpoint = [{
    resource_manager_endpoint       = var.url
    active_directory_authority_host = var.url
    resource_manager_audience       = "https://management.azure.com/"
  }]
  subscription_id            = var.subscription
  tenant_id                  = var.tenant
  use_cli                    = false
  use_msi                    = true
  skip_provider_registration = true
}

locals {
  location = "eastus"
  tags     = { round = tostring(var.round) }
  image    = { publisher = "Canonical", offer = "ubuntu-24_04-lts", sku = "server", version = "latest" }
  keys     = [{ path = "/home/azureuser/.ssh/authorized_keys", keyData = "ssh-rsa AAAAB3NzaC1yc2E= x" }]
  linux    = { disablePasswordAuthentication = true, ssh = { publicKeys = local.keys } }
}

resource "azapi_resource" "group" {
  type      = "Microsoft.Resources/resourceGroups@2021-04-01"
  name      = "terraform"
  parent_id = "/subscriptions/${var.subscription}"
  location  = local.location
  tags      = local.tags
}

resource "azapi_resource" "network" {
  type      = "Microsoft.Network/virtualNetworks@2022-07-01"
  parent_id = azapi_resource.group.id
  name      = "network"
  location  = local.location
  tags      = local.tags
  body = { properties = {
    addressSpace = { addressPrefixes = slice(["10.10.0.0/16", "10.11.0.0/16"], 0, var.round) }
    subnets      = [{ name = "nodes", properties = { addressPrefix = "10.10.0.0/20" } }]
  } }
}

resource "azapi_resource" "interface" {
  type      = "Microsoft.Network/networkInterfaces@2022-07-01"
  parent_id = azapi_resource.group.id
  name      = "interface"
  location  = local.location
  tags      = local.tags
  body = { properties = { ipConfigurations = [{
    name       = "ip"
    properties = { subnet = { id = "${azapi_resource.network.id}/subnets/nodes" }, privateIPAllocationMethod = "Dynamic" }
  }] } }
}

resource "azapi_resource" "machine" {
  type      = "Microsoft.Compute/virtualMachines@2023-03-01"
  parent_id = azapi_resource.group.id
  name      = "machine"
  location  = local.location
  tags      = local.tags
  body = {
    zones = ["1"]
    properties = {
      hardwareProfile = { vmSize = var.round == 1 ? "Standard_D2s_v5" : "Standard_D4s_v5" }
      storageProfile = {
        imageReference = local.image
        osDisk         = { name = "system", createOption = "FromImage", deleteOption = "Delete", managedDisk = { storageAccountType = "Premium_LRS" } }
      }
      osProfile      = { computerName = "machine", adminUsername = "azureuser", linuxConfiguration = local.linux }
      networkProfile = { networkInterfaces = [{ id = azapi_resource.interface.id, properties = { primary = true } }] }
    }
  }
}

resource "azapi_resource" "set" {
  type      = "Microsoft.Compute/virtualMachineScaleSets@2023-03-01"
  parent_id = azapi_resource.group.id
  name      = "set"
  location  = local.location
  tags      = local.tags
  body = {
    sku = { name = "Standard_D2s_v5", tier = "Standard", capacity = var.round }
    properties = {
      orchestrationMode = "Uniform"
      upgradePolicy     = { mode = "Manual" }
      virtualMachineProfile = {
        osProfile      = { computerNamePrefix = "set", adminUsername = "azureuser", linuxConfiguration = local.linux }
        storageProfile = { imageReference = local.image, osDisk = { createOption = "FromImage", managedDisk = { storageAccountType = "Premium_LRS" } } }
        networkProfile = { networkInterfaceConfigurations = [{
          name = "interface"
          properties = {
            primary          = true
            ipConfigurations = [{ name = "ip", properties = { subnet = { id = "${azapi_resource.network.id}/subnets/nodes" } } }]
          }
        }] }
      }
    }
  }
}

resource "azapi_resource" "disk" {
  type      = "Microsoft.Compute/disks@2023-01-02"
  parent_id = azapi_resource.group.id
  name      = "disk"
  location  = local.location
  tags      = local.tags
  body = {
    sku        = { name = "Premium_LRS" }
    properties = { creationData = { createOption = "Empty" }, diskSizeGB = 32 * var.round }
  }
}

resource "azapi_resource" "cluster" {
  type      = "Microsoft.ContainerService/managedClusters@2023-10-02-preview"
  parent_id = azapi_resource.group.id
  name      = "cluster"
  location  = local.location
  tags      = local.tags
  identity { type = "SystemAssigned" }
  schema_validation_enabled = false
  body = {
    sku = { name = "Base", tier = var.round == 1 ? "Free" : "Standard" }
    properties = {
      dnsPrefix               = "cluster"
      kubernetesVersion       = "1.34"
      agentPoolProfiles       = [{ name = "system", mode = "System", count = 1, vmSize = "Standard_D4s_v5", osType = "Linux", type = "VirtualMachineScaleSets", vnetSubnetID = "${azapi_resource.network.id}/subnets/nodes" }]
      networkProfile          = { networkPlugin = "azure", networkPluginMode = "overlay", networkDataplane = "cilium", networkPolicy = "cilium" }
      nodeProvisioningProfile = { mode = "Auto" }
      oidcIssuerProfile       = { enabled = true }
      securityProfile         = { workloadIdentity = { enabled = true } }
    }
  }
  response_export_values = ["properties.oidcIssuerProfile.issuerURL"]
  lifecycle { ignore_changes = [body.properties.agentPoolProfiles] } # Azure lists the other pools there, too
}

resource "azapi_resource" "pool" {
  type                      = "Microsoft.ContainerService/managedClusters/agentPools@2023-10-02-preview"
  parent_id                 = azapi_resource.cluster.id
  name                      = "user"
  schema_validation_enabled = false
  body = { properties = {
    count        = var.round
    mode         = "User"
    vmSize       = "Standard_D2s_v5"
    osType       = "Linux"
    nodeLabels   = { round = tostring(var.round) }
    nodeTaints   = ["x=y:NoSchedule"]
    vnetSubnetID = "${azapi_resource.network.id}/subnets/nodes"
  } }
}

resource "azapi_resource" "identity" {
  type      = "Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31"
  parent_id = azapi_resource.group.id
  name      = "identity"
  location  = local.location
  tags      = local.tags
}

resource "azapi_resource" "credential" {
  type      = "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials@2023-01-31"
  parent_id = azapi_resource.identity.id
  name      = "credential"
  body = { properties = {
    issuer    = azapi_resource.cluster.output.properties.oidcIssuerProfile.issuerURL
    subject   = "system:serviceaccount:kube-system:karpenter-sa-${var.round}"
    audiences = ["api://AzureADTokenExchange"]
  } }
}
