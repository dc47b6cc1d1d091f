// Azure's JavaScript SDKs against a served cloud: one line of JSON for each operation, [client, operation, state, what was said, seconds].
// `refused` is right where Azure refuses, too; `leftOut` needs what is not emulated.
import fs from "node:fs";
import { ComputeManagementClient } from "@azure/arm-compute";
import { ContainerServiceClient } from "@azure/arm-containerservice";
import { DeploymentsClient } from "@azure/arm-resourcesdeployments";
import { ManagedIdentityCredential, ClientSecretCredential, DefaultAzureCredential } from "@azure/identity";
import { NetworkManagementClient } from "@azure/arm-network";
import { ResourceGraphClient } from "@azure/arm-resourcegraph";
import { ResourceManagementClient } from "@azure/arm-resources";

const url = JSON.parse(fs.readFileSync(process.env.AZURE_ENVIRONMENT_FILEPATH)).resourceManagerEndpoint.replace(/\/$/, "");
const sub = process.env.AZURE_SUBSCRIPTION_ID, loc = process.env.LOCATION, tenant = process.env.AZURE_TENANT_ID;
const must = (c, m) => { if (!c) throw Object.assign(new Error("assert: " + m), { wrong: true }); };
const all = async (it) => { const a = []; for await (const x of it) a.push(x); return a; };

let told = 0;
function tell(name, start, state, said) {
  const line = ["JavaScript SDKs", name, state, String(said ?? "").replace(/\s+/g, " ").slice(0, 300), (Date.now() - start) / 1000];
  process.stdout.write(JSON.stringify(line) + "\n");
  if (++told === Number(process.env.FAKEAZURE_CLIENT_OPERATIONS)) process.exit(0);
}
async function t(name, f) {
  const start = Date.now();
  try { await f(); tell(name, start, "works"); }
  catch (e) { tell(name, start, e.wrong ? "wrong" : "missing", `${e.code ?? e.name} ${e.message}`); }
}
async function refused(name, code, f) {
  const start = Date.now();
  try { await f(); tell(name, start, "wrong", "it succeeded"); }
  catch (e) { tell(name, start, e.code === code ? "works" : "wrong", `${e.code ?? e.name} ${e.message}`); }
}
async function leftOut(name, f) {
  const start = Date.now();
  try { await f(); tell(name, start, "wrong", "it succeeded"); }
  catch (e) { tell(name, start, "left out", `${e.code ?? e.name} ${e.message}`); }
}

const opts = { endpoint: url, credentialScopes: ["https://management.azure.com/.default"], credentials: { scopes: ["https://management.azure.com/.default"] }, retryOptions: { maxRetries: 0 } };
const cred = new ManagedIdentityCredential();
const compute = new ComputeManagementClient(cred, sub, opts), net = new NetworkManagementClient(cred, sub, opts);
const aks = new ContainerServiceClient(cred, sub, opts), res = new ResourceManagementClient(cred, sub, opts);
const rg = new ResourceGraphClient(cred, { ...opts, baseUri: url });
const vmBody=(name,nicId,size="Standard_D2s_v5")=>({location:loc,zones:["1"],hardwareProfile:{vmSize:size},storageProfile:{imageReference:{publisher:"Canonical",offer:"ubuntu-24_04-lts",sku:"server",version:"latest"},osDisk:{createOption:"FromImage",deleteOption:"Delete",managedDisk:{storageAccountType:"Premium_LRS"}}},osProfile:{computerName:name,adminUsername:"azureuser",adminPassword:"Pa55w0rd!Pa55"},networkProfile:{networkInterfaces:[{id:nicId,deleteOption:"Delete"}]}});

// --- machines, disks, scale sets, clusters
{
await t("ManagedIdentityCredential token", async()=> (await new ManagedIdentityCredential().getToken("https://management.azure.com/.default")).token.length);
await t("ManagedIdentityCredential(clientId) token", async()=> (await new ManagedIdentityCredential({clientId:"11111111-1111-1111-1111-111111111111"}).getToken("https://management.azure.com/.default")).token.length);
await t("ClientSecretCredential token", async()=> (await new ClientSecretCredential(tenant,"app",process.env.FAKEAZURE_SECRET,{authorityHost:url, disableInstanceDiscovery:true}).getToken("https://management.azure.com/.default")).token.length);
await t("DefaultAzureCredential token", async()=> (await new DefaultAzureCredential().getToken("https://management.azure.com/.default")).token.length);
const G="jsg";
await t("resourceGroups.createOrUpdate", async()=>{const r=await res.resourceGroups.createOrUpdate(G,{location:loc,tags:{a:"b"}}); must(r.properties.provisioningState==="Succeeded","ps"); });
await t("resourceGroups.checkExistence", async()=>{ const r=await res.resourceGroups.checkExistence(G); return r.body ?? r; });
await t("resourceGroups.checkExistence missing", async()=>{ const r=await res.resourceGroups.checkExistence("nope"); return r.body ?? r; });
await t("resourceSkus.list filter", async()=>{const a=await all(compute.resourceSkus.list({filter:`location eq '${loc}'`})); must(a.length>500,a.length); return a.length});
await t("usageOperations.list", async()=> (await all((compute.usageOperations||compute.usage).list(loc))).length);
await t("virtualMachineSizes.list", async()=> (await all(compute.virtualMachineSizes.list(loc))).length);
await t("virtualNetworks.createOrUpdate", async()=>{const v=await net.virtualNetworks.beginCreateOrUpdateAndWait(G,"v",{location:loc,addressSpace:{addressPrefixes:["10.9.0.0/16"]},subnets:[{name:"s",addressPrefix:"10.9.0.0/24"}]},{updateIntervalInMs:200}); must(v.subnets[0].id,"sub"); return v.etag});
await t("nsg", async()=>{const v=await net.networkSecurityGroups.beginCreateOrUpdateAndWait(G,"nsg",{location:loc,securityRules:[{name:"ssh",priority:100,direction:"Inbound",access:"Allow",protocol:"Tcp",sourceAddressPrefix:"*",sourcePortRange:"*",destinationAddressPrefix:"*",destinationPortRange:"22"}]},{updateIntervalInMs:200}); must(v.securityRules[0].provisioningState==="Succeeded","rule"); must(v.defaultSecurityRules.length===6,"def");});
await t("publicIPAddresses", async()=>{const v=await net.publicIPAddresses.beginCreateOrUpdateAndWait(G,"ip",{location:loc,sku:{name:"Standard"},publicIPAllocationMethod:"Static"},{updateIntervalInMs:200}); must(v.ipAddress,"ip"); return v.ipAddress});
let nic;
await t("networkInterfaces", async()=>{const s=await net.subnets.get(G,"v","s"); nic=await net.networkInterfaces.beginCreateOrUpdateAndWait(G,"n",{location:loc,ipConfigurations:[{name:"ip",subnet:{id:s.id}}]},{updateIntervalInMs:200}); return nic.ipConfigurations[0].privateIPAddress});
await t("virtualMachines.createOrUpdate", async()=>{const v=await compute.virtualMachines.beginCreateOrUpdateAndWait(G,"vm",vmBody("vm",nic.id),{updateIntervalInMs:200}); must(v.provisioningState==="Succeeded","ps"); must(v.timeCreated instanceof Date,"timeCreated Date"); return v.vmId});
await t("virtualMachines.instanceView", async()=>{const v=await compute.virtualMachines.instanceView(G,"vm"); return v.statuses.map(s=>s.code)});
await t("virtualMachines.get expand", async()=>{const v=await compute.virtualMachines.get(G,"vm",{expand:"instanceView"}); return v.instanceView.statuses.map(s=>s.code)});
await t("virtualMachines.get expand userData", async()=>{const v=await compute.virtualMachines.get(G,"vm",{expand:"userData"}); return v.name});
await t("virtualMachines.listAll statusOnly", async()=>{const v=await all(compute.virtualMachines.listAll({statusOnly:"true"})); return v.map(x=>[x.name,x.instanceView?.statuses?.length])});
await t("virtualMachines.list(rg)", async()=>{const v=await all(compute.virtualMachines.list(G)); return v.map(x=>x.name)});
await t("virtualMachines.update tags", async()=>{const v=await compute.virtualMachines.beginUpdateAndWait(G,"vm",{tags:{x:"y"}},{updateIntervalInMs:200}); return v.tags});
await t("virtualMachines.powerOff/start/restart/deallocate", async()=>{ for (const o of ["beginPowerOffAndWait","beginStartAndWait","beginRestartAndWait","beginDeallocateAndWait"]) await compute.virtualMachines[o](G,"vm",{updateIntervalInMs:200}); });
await t("virtualMachines.runCommand", async()=>{ await compute.virtualMachines.beginStartAndWait(G,"vm",{updateIntervalInMs:200}); const v=await compute.virtualMachines.beginRunCommandAndWait(G,"vm",{commandId:"RunShellScript",script:["echo"]},{updateIntervalInMs:200}); return v.value[0].code});
await t("virtualMachines.listAvailableSizes", async()=> (await all(compute.virtualMachines.listAvailableSizes(G,"vm"))).length);
await t("404 body", async()=>{ try{ await compute.virtualMachines.get(G,"nope"); } catch(e){ must(e.code==="ResourceNotFound"&&e.statusCode===404,e.code+" "+e.statusCode); return [e.code,e.details?.error?.code??e.details, e.request?.requestId?.length, e.response?.headers?.get("x-ms-request-id")]; }});
await t("disks", async()=>{const d=await compute.disks.beginCreateOrUpdateAndWait(G,"d",{location:loc,sku:{name:"Premium_LRS"},creationData:{createOption:"Empty"},diskSizeGB:64},{updateIntervalInMs:200}); return [d.diskSizeGB,d.diskIopsReadWrite,d.diskMBpsReadWrite,d.tier]});
await t("disks.grantAccess", async()=>{const d=await compute.disks.beginGrantAccessAndWait(G,"d",{access:"Read",durationInSeconds:300},{updateIntervalInMs:200}); await compute.disks.beginRevokeAccessAndWait(G,"d",{updateIntervalInMs:200}); return d.accessSAS});
await t("vm attach disk (detachAttach)", async()=>{const d=await compute.disks.get(G,"d"); const v=await compute.virtualMachines.beginAttachDetachDataDisksAndWait(G,"vm",{dataDisksToAttach:[{diskId:d.id,lun:0}]},{updateIntervalInMs:200}); return v.dataDisks?.length});
await t("snapshots", async()=>{const d=await compute.disks.get(G,"d"); const s=await compute.snapshots.beginCreateOrUpdateAndWait(G,"sn",{location:loc,creationData:{createOption:"Copy",sourceResourceId:d.id}},{updateIntervalInMs:200}); return s.diskSizeGB});
await t("vmss uniform", async()=>{const s=await net.subnets.get(G,"v","s"); const v=await compute.virtualMachineScaleSets.beginCreateOrUpdateAndWait(G,"ss",{location:loc,sku:{name:"Standard_D2s_v5",capacity:2,tier:"Standard"},upgradePolicy:{mode:"Manual"},virtualMachineProfile:{storageProfile:{imageReference:{publisher:"Canonical",offer:"ubuntu-24_04-lts",sku:"server",version:"latest"},osDisk:{createOption:"FromImage"}},osProfile:{computerNamePrefix:"ss",adminUsername:"azureuser",adminPassword:"Pa55w0rd!Pa55"},networkProfile:{networkInterfaceConfigurations:[{name:"n",primary:true,ipConfigurations:[{name:"i",subnet:{id:s.id}}]}]}}},{updateIntervalInMs:200}); return [v.sku.capacity,v.uniqueId?.length]});
await t("vmss vms list", async()=>{const v=await all(compute.virtualMachineScaleSetVMs.list(G,"ss")); return v.map(x=>[x.instanceId,x.name,x.latestModelApplied])});
await t("vmss scale", async()=>{const v=await compute.virtualMachineScaleSets.beginUpdateAndWait(G,"ss",{sku:{name:"Standard_D2s_v5",capacity:3}},{updateIntervalInMs:200}); return v.sku.capacity});
await t("vmss deleteInstances", async()=>{await compute.virtualMachineScaleSets.beginDeleteInstancesAndWait(G,"ss",{instanceIds:["0"]},{updateIntervalInMs:200}); return (await all(compute.virtualMachineScaleSetVMs.list(G,"ss"))).length});
await t("vmss updateInstances", async()=>{await compute.virtualMachineScaleSets.beginUpdateInstancesAndWait(G,"ss",{instanceIds:["1"]},{updateIntervalInMs:200});});
await t("vmss NICs (network)", async()=>{const v=await all(net.networkInterfaces.listVirtualMachineScaleSetNetworkInterfaces(G,"ss")); return v.length});
await t("vmss vm get NIC (network)", async()=>{const v=await all(net.networkInterfaces.listVirtualMachineScaleSetVMNetworkInterfaces(G,"ss","1")); return v.length});
await t("vmss vm update (attach)", async()=>{const x=await compute.virtualMachineScaleSetVMs.get(G,"ss","1"); const v=await compute.virtualMachineScaleSetVMs.beginUpdateAndWait(G,"ss","1",{...x,tags:{a:"b"}},{updateIntervalInMs:200}); return v.tags});
await t("vmss listByLocation/listAll", async()=> (await all(compute.virtualMachineScaleSets.listAll())).map(x=>x.name));
await refused("vmss rolling upgrade latest", "NotFound", async()=> (await compute.virtualMachineScaleSetRollingUpgrades.getLatest(G,"ss")));
await t("aks get", async()=>{const c=await aks.managedClusters.get(process.env.ARM_RESOURCE_GROUP, process.env.CLUSTER_NAME); return [c.kubernetesVersion,c.nodeProvisioningProfile,c.fqdn]});
await t("aks create", async()=>{const c=await aks.managedClusters.beginCreateOrUpdateAndWait(G,"jc",{location:loc,dnsPrefix:"jc",identity:{type:"SystemAssigned"},agentPoolProfiles:[{name:"np",count:2,vmSize:"Standard_D4s_v5",mode:"System",osType:"Linux"}],networkProfile:{networkPlugin:"azure",networkPluginMode:"overlay",networkDataplane:"cilium"}},{updateIntervalInMs:200}); must(c.identity.principalId,"principal"); return [c.provisioningState,c.powerState?.code,c.currentKubernetesVersion,c.nodeResourceGroup,c.agentPoolProfiles[0].count,Object.keys(c).length]});
await t("agentPools create", async()=>{const c=await aks.agentPools.beginCreateOrUpdateAndWait(G,"jc","up",{count:1,vmSize:"Standard_D2s_v5",mode:"User",enableAutoScaling:true,minCount:1,maxCount:3,availabilityZones:["1"]},{updateIntervalInMs:200}); return [c.provisioningState,c.nodeImageVersion]});
await t("agentPools scale", async()=>{const p=await aks.agentPools.get(G,"jc","up"); const c=await aks.agentPools.beginCreateOrUpdateAndWait(G,"jc","up",{...p,count:3},{updateIntervalInMs:200}); return c.count});
await t("agentPools upgradeNodeImage", async()=>{const c=await aks.agentPools.beginUpgradeNodeImageVersionAndWait(G,"jc","up",{updateIntervalInMs:200}); return c?.nodeImageVersion});
await t("managedClusters.listClusterUserCredentials", async()=>{const c=await aks.managedClusters.listClusterUserCredentials(G,"jc"); return c.kubeconfigs[0].name});
await t("managedClusters.getUpgradeProfile", async()=>{const c=await aks.managedClusters.getUpgradeProfile(G,"jc"); return c.controlPlaneProfile?.kubernetesVersion});
await t("managedClusters.listKubernetesVersions", async()=>{const c=await aks.managedClusters.listKubernetesVersions(loc); return c.values.map(v=>v.version)});
await t("managedClusters.updateTags", async()=>{const c=await aks.managedClusters.beginUpdateTagsAndWait(G,"jc",{tags:{q:"r"}},{updateIntervalInMs:200}); return c.tags});
await t("managedClusters.rotateClusterCertificates", async()=>{await aks.managedClusters.beginRotateClusterCertificatesAndWait(G,"jc",{updateIntervalInMs:200})});
await t("managedClusters.runCommand", async()=>{const c=await aks.managedClusters.beginRunCommandAndWait(G,"jc",{command:"kubectl get nodes"},{updateIntervalInMs:200}); return c.exitCode});
await t("maintenanceConfigurations list", async()=> (await all(aks.maintenanceConfigurations.listByManagedCluster(G,"jc"))).length);
await t("machines list", async()=> (await all(aks.machines.list(G,"jc","np"))).length);
await t("resourceGraph", async()=>{const r=await rg.resources({query:"Resources | where type =~ 'microsoft.compute/virtualmachines' | project name, location",subscriptions:[sub]}); return [r.totalRecords, r.data?.length ?? r.data]});
await t("deployments", async()=>{const d=await res.deployments?.beginCreateOrUpdateAndWait?.(G,"dep",{properties:{mode:"Incremental",template:{"$schema":"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",contentVersion:"1.0.0.0",resources:[],outputs:{o:{type:"string",value:"[resourceGroup().location]"}}}}},{updateIntervalInMs:200}); return d?.properties?.outputs});
await t("resources.listByResourceGroup", async()=> (await all(res.resources.listByResourceGroup(G))).length);
await t("providers.get", async()=>{const p=await res.providers.get("Microsoft.Compute"); return [p.registrationState,p.resourceTypes.length]});
await t("vm delete", async()=>{ await compute.virtualMachines.beginDeleteAndWait(G,"vm",{forceDeletion:true,updateIntervalInMs:200}); });
await t("resourceGroups.delete", async()=>{ await res.resourceGroups.beginDeleteAndWait(G,{updateIntervalInMs:200}); return (await res.resourceGroups.checkExistence(G)).body});
}

// --- what is rarer
{
const G="jsh";
let nic;
const dep=new DeploymentsClient(cred, sub, opts);
await res.resourceGroups.createOrUpdate(G,{location:loc});
await net.virtualNetworks.beginCreateOrUpdateAndWait(G,"v",{location:loc,addressSpace:{addressPrefixes:["10.9.0.0/16"]},subnets:[{name:"s",addressPrefix:"10.9.0.0/24"}]},{updateIntervalInMs:200});
const sn=await net.subnets.get(G,"v","s"); nic=await net.networkInterfaces.beginCreateOrUpdateAndWait(G,"n",{location:loc,ipConfigurations:[{name:"ip",subnet:{id:sn.id}}]},{updateIntervalInMs:200});
await compute.virtualMachines.beginCreateOrUpdateAndWait(G,"vm",vmBody("vm",nic.id),{updateIntervalInMs:200});
const V=compute.virtualMachines, u={updateIntervalInMs:200};
await t("vm.powerOff", ()=>V.beginPowerOffAndWait(G,"vm",u));
await t("vm.start", ()=>V.beginStartAndWait(G,"vm",u));
await t("vm.restart", ()=>V.beginRestartAndWait(G,"vm",u));
await t("vm.redeploy", ()=>V.beginRedeployAndWait(G,"vm",u));
await t("vm.reapply", ()=>V.beginReapplyAndWait(G,"vm",u));
await t("vm.runCommand", async()=> (await V.beginRunCommandAndWait(G,"vm",{commandId:"RunShellScript",script:["echo"]},u)).value[0].code);
await refused("vm.retrieveBootDiagnosticsData", "OperationNotAllowed", async()=> Object.keys(await V.retrieveBootDiagnosticsData(G,"vm")));
await refused("vm.simulateEviction(not spot)", "InvalidRequestContent", ()=>V.simulateEviction(G,"vm"));
await refused("vm.generalize running", "OperationNotAllowed", ()=>V.generalize(G,"vm"));
await t("vm.deallocate", ()=>V.beginDeallocateAndWait(G,"vm",u));
await t("vm.generalize", ()=>V.generalize(G,"vm"));
await refused("vm.capture", "OperationNotAllowed", ()=>V.beginCaptureAndWait(G,"vm",{vhdPrefix:"x",destinationContainerName:"c",overwriteVhds:true},u));
await refused("vm.convertToManagedDisks", "OperationNotAllowed", ()=>V.beginConvertToManagedDisksAndWait(G,"vm",u));
await refused("vm.assessPatches", "OperationNotAllowed", async()=> (await V.beginAssessPatchesAndWait(G,"vm",u)).status);
await t("vm.extensions create", async()=> (await compute.virtualMachineExtensions.beginCreateOrUpdateAndWait(G,"vm","e",{location:loc,publisher:"Microsoft.Azure.Extensions",typePropertiesType:"CustomScript",typeHandlerVersion:"2.1"},u)).provisioningState);
await t("images.createFromVM", async()=> (await compute.images.beginCreateOrUpdateAndWait(G,"img",{location:loc,sourceVirtualMachine:{id:(await V.get(G,"vm")).id},hyperVGeneration:"V2"},u)).storageProfile?.osDisk?.osType);
await t("vm from image", async()=>{ const n2=await net.networkInterfaces.beginCreateOrUpdateAndWait(G,"n2",{location:loc,ipConfigurations:[{name:"ip",subnet:{id:sn.id}}]},u); const img=await compute.images.get(G,"img"); const b=vmBody("vm2",n2.id); b.storageProfile.imageReference={id:img.id}; return (await V.beginCreateOrUpdateAndWait(G,"vm2",b,u)).provisioningState});
await t("vm with ssh no password, dataDisks", async()=>{ const n3=await net.networkInterfaces.beginCreateOrUpdateAndWait(G,"n3",{location:loc,ipConfigurations:[{name:"ip",subnet:{id:sn.id}}]},u); const b=vmBody("vm3",n3.id); b.storageProfile.dataDisks=[{lun:0,createOption:"Empty",diskSizeGB:32}]; b.osProfile={computerName:"vm3",adminUsername:"azureuser",linuxConfiguration:{disablePasswordAuthentication:true,ssh:{publicKeys:[{path:"/home/azureuser/.ssh/authorized_keys",keyData:"ssh-rsa AAAAB3NzaC1yc2E= x"}]}}}; b.priority="Spot"; b.evictionPolicy="Deallocate"; b.billingProfile={maxPrice:-1}; return (await V.beginCreateOrUpdateAndWait(G,"vm3",b,u)).priority});
await t("vm.simulateEviction(spot)", ()=>V.simulateEviction(G,"vm3"));
await t("availabilitySets", async()=> (await compute.availabilitySets.createOrUpdate(G,"as",{location:loc,sku:{name:"Aligned"},platformFaultDomainCount:2,platformUpdateDomainCount:5})).platformFaultDomainCount);
await t("availabilitySets.listAvailableSizes", async()=> (await all(compute.availabilitySets.listAvailableSizes(G,"as"))).length);
await t("proximityPlacementGroups", async()=> (await compute.proximityPlacementGroups.createOrUpdate(G,"ppg",{location:loc,proximityPlacementGroupType:"Standard"})).proximityPlacementGroupType);
await t("dedicatedHostGroups", async()=> (await compute.dedicatedHostGroups.createOrUpdate(G,"hg",{location:loc,platformFaultDomainCount:1})).name);
await t("diskEncryptionSets", async()=> (await all(compute.diskEncryptionSets.list())).length);
await t("galleries", async()=> (await compute.galleries.beginCreateOrUpdateAndWait(G,"gal",{location:loc},u)).provisioningState);
await t("sshPublicKeys.generateKeyPair", async()=> { await compute.sshPublicKeys.create(G,"k",{location:loc}); return Object.keys(await compute.sshPublicKeys.generateKeyPair(G,"k"))});
await t("virtualMachineImages.list top/orderby", async()=> (await compute.virtualMachineImages.list(loc,"Canonical","ubuntu-24_04-lts","server",{top:1,orderby:"name desc"})).map?.(x=>x.name));
await leftOut("logAnalytics", ()=>compute.logAnalytics?.beginExportThrottledRequestsAndWait(loc,{blobContainerSasUri:"https://x",fromTime:new Date(),toTime:new Date()},u));
await t("loadBalancer", async()=> (await net.loadBalancers.beginCreateOrUpdateAndWait(G,"lb",{location:loc,sku:{name:"Standard"},frontendIPConfigurations:[{name:"f",subnet:{id:sn.id}}],backendAddressPools:[{name:"b"}]},u)).backendAddressPools[0].id);
await t("loadBalancer backendAddressPools.get", async()=> (await net.loadBalancerBackendAddressPools.get(G,"lb","b")).name);
await t("bastion/gateways list", async()=> (await all(net.virtualNetworkGateways.list(G))).length);
await t("privateEndpoints list", async()=> (await all(net.privateEndpoints.listBySubscription())).length);
await t("vnet peering", async()=> { await net.virtualNetworks.beginCreateOrUpdateAndWait(G,"v2",{location:loc,addressSpace:{addressPrefixes:["10.10.0.0/16"]}},u); return (await net.virtualNetworkPeerings.beginCreateOrUpdateAndWait(G,"v","p",{remoteVirtualNetwork:{id:sn.id.split("/subnets")[0]+"2"},allowVirtualNetworkAccess:true},u)).peeringState; });
await refused("effective NSG", "NetworkInterfaceNotAttachedToRunningVM", async()=> (await net.networkInterfaces.beginListEffectiveNetworkSecurityGroupsAndWait(G,"n",u)));
await t("checkIPAddressAvailability", async()=> (await net.virtualNetworks.checkIPAddressAvailability(G,"v","10.9.0.4")).available);
await t("serviceTags", async()=> (await net.serviceTags.list(loc)).values?.length);
await t("resourceGraph", async()=>{const r=await rg.resources({query:"Resources | where type =~ 'microsoft.compute/virtualmachines' | project name, location",subscriptions:[sub]}); return [r.totalRecords, r.data?.length ?? r.data]});
await t("deployments", async()=>{const d=await dep.deployments.beginCreateOrUpdateAndWait(G,"dep",{properties:{mode:"Incremental",template:{"$schema":"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",contentVersion:"1.0.0.0",resources:[],outputs:{o:{type:"string",value:"[resourceGroup().location]"}}}}},u); return d?.properties?.outputs});
await t("deployments.whatIf", async()=>{const d=await dep.deployments.beginWhatIfAndWait(G,"dep",{properties:{mode:"Incremental",template:{"$schema":"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",contentVersion:"1.0.0.0",resources:[]}}},u); return d?.status});
await t("deployments at subscription", async()=>{const d=await dep.deployments.beginCreateOrUpdateAtSubscriptionScopeAndWait("dep",{location:loc,properties:{mode:"Incremental",template:{"$schema":"https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#",contentVersion:"1.0.0.0",resources:[]}}},u); return d?.properties?.provisioningState});
await t("resourceGroups.exportTemplate", async()=>{const d=await res.resourceGroups.beginExportTemplateAndWait(G,{resources:["*"]},u); return d?.template?.resources?.length});
await t("resources.getById generic", async()=> (await res.resources.getById((await V.get(G,"vm2")).id,"2024-07-01")).type);
await refused("resources.moveResources", "MissingMoveDependentResources", async()=> (await res.resources.beginMoveResourcesAndWait(G,{resources:[(await V.get(G,"vm2")).id],targetResourceGroup:`/subscriptions/${sub}/resourceGroups/rg`},u)));
await t("tags.createOrUpdateAtScope", async()=> (await (res.tagsOperations||res.tags).beginCreateOrUpdateAtScopeAndWait((await V.get(G,"vm2")).id,{properties:{tags:{a:"b"}}})).properties);
await t("tags list subscription", async()=> (await all((res.tagsOperations||res.tags).list())).length);
await t("aks machines of a pool", async()=>{await aks.managedClusters.beginCreateOrUpdateAndWait(G,"jc",{location:loc,dnsPrefix:"jc",identity:{type:"SystemAssigned"},agentPoolProfiles:[{name:"np",count:2,vmSize:"Standard_D4s_v5",mode:"System"}]},u); return (await all(aks.machines.list(G,"jc","np"))).length});
await refused("aks abort", "OperationNotAllowed", ()=>aks.managedClusters.beginAbortLatestOperationAndWait(G,"jc",u));
await t("aks stop/start", async()=>{await aks.managedClusters.beginStopAndWait(G,"jc",u); const a=(await aks.managedClusters.get(G,"jc")).powerState.code; await aks.managedClusters.beginStartAndWait(G,"jc",u); return [a,(await aks.managedClusters.get(G,"jc")).powerState.code]});
await t("aks delete", ()=>aks.managedClusters.beginDeleteAndWait(G,"jc",u));
await t("rg delete", ()=>res.resourceGroups.beginDeleteAndWait(G,u));
}
