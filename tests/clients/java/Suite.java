// Azure's fluent Java SDK against a served cloud: one line of JSON for each operation, [client, operation, state, message, seconds].
// `refused` is right where Azure refuses, too. Run from its source by tests/clients/run.py, with the jars of pom.xml in the class path.

import com.azure.core.credential.TokenCredential;
import com.azure.core.credential.TokenRequestContext;
import com.azure.core.http.policy.FixedDelay;
import com.azure.core.http.policy.RetryPolicy;
import com.azure.core.management.AzureEnvironment;
import com.azure.core.management.Region;
import com.azure.core.management.exception.ManagementException;
import com.azure.core.management.profile.AzureProfile;
import com.azure.identity.ClientSecretCredentialBuilder;
import com.azure.identity.ManagedIdentityCredentialBuilder;
import com.azure.resourcemanager.authorization.AuthorizationManager;
import com.azure.resourcemanager.compute.ComputeManager;
import com.azure.resourcemanager.compute.models.AccessLevel;
import com.azure.resourcemanager.compute.models.ComputeResourceType;
import com.azure.resourcemanager.compute.models.DiskSkuTypes;
import com.azure.resourcemanager.compute.models.DiskState;
import com.azure.resourcemanager.compute.models.KnownLinuxVirtualMachineImage;
import com.azure.resourcemanager.compute.models.PowerState;
import com.azure.resourcemanager.compute.models.VirtualMachine;
import com.azure.resourcemanager.compute.models.VirtualMachineScaleSet;
import com.azure.resourcemanager.compute.models.VirtualMachineScaleSetSkuTypes;
import com.azure.resourcemanager.containerservice.ContainerServiceManager;
import com.azure.resourcemanager.containerservice.models.AgentPoolMode;
import com.azure.resourcemanager.containerservice.models.Code;
import com.azure.resourcemanager.containerservice.models.ContainerServiceVMSizeTypes;
import com.azure.resourcemanager.containerservice.models.KubernetesCluster;
import com.azure.resourcemanager.msi.MsiManager;
import com.azure.resourcemanager.network.NetworkManager;
import com.azure.resourcemanager.network.models.LoadBalancerSkuType;
import com.azure.resourcemanager.network.models.PublicIPSkuType;
import com.azure.resourcemanager.network.models.SecurityRuleProtocol;
import com.azure.resourcemanager.network.models.TransportProtocol;
import com.azure.resourcemanager.resources.ResourceManager;
import com.azure.resourcemanager.resources.models.DeploymentMode;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

public class Suite {
  interface Operation { void run() throws Exception; }

  static final ObjectMapper JSON = new ObjectMapper();
  static final int MOST = Integer.parseInt(System.getenv().getOrDefault("FAKEAZURE_CLIENT_OPERATIONS", "0"));
  static final String G = "javag", SIZE = "Standard_D2s_v5", KEY = "ssh-rsa AAAA somebody";
  static final Region EASTUS = Region.US_EAST;
  static int tried = 0;

  static void must(boolean holds, Object otherwise) {
    if (!holds) throw new AssertionError(String.valueOf(otherwise));
  }

  static void print(String name, long start, String state, Throwable error) throws Exception {
    String message = error == null ? "" : error.getClass().getSimpleName() + ": " + error.getMessage();
    message = message.replaceAll("\\s+", " ");
    double seconds = (System.nanoTime() - start) / 1e9;
    System.out.println(JSON.writeValueAsString(List.of("Java SDK", name, state, message.substring(0, Math.min(300, message.length())), seconds)));
    if (++tried == MOST) System.exit(0);
  }

  static void t(String name, Operation operation) throws Exception {
    long start = System.nanoTime();
    String state = "works";
    Throwable error = null;
    try {
      operation.run();
    } catch (AssertionError e) {
      state = "wrong";
      error = e;
    } catch (Throwable e) { // a NoSuchMethodError, too, is of this operation alone
      state = "missing";
      error = e;
    }
    print(name, start, state, error);
  }

  static void refused(String name, String code, Operation operation) throws Exception {
    t(name, () -> {
      try {
        operation.run();
      } catch (ManagementException e) {
        must(code.equals(e.getValue().getCode()), e.getMessage());
        return;
      }
      must(false, "it succeeded");
    });
  }

  /** The cloud's certificate, as a store of Java's: the variables that the cloud prints name a PEM file, which Java does not read. */
  static void trust(String pem) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    try (FileInputStream in = new FileInputStream(pem)) {
      int n = 0;
      for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) store.setCertificateEntry("c" + n++, certificate);
    }
    File file = File.createTempFile("fakeazure-", ".p12");
    file.deleteOnExit();
    try (FileOutputStream out = new FileOutputStream(file)) { store.store(out, "fakeazure".toCharArray()); }
    System.setProperty("javax.net.ssl.trustStore", file.getPath());
    System.setProperty("javax.net.ssl.trustStorePassword", "fakeazure");
  }

  public static void main(String[] arguments) throws Exception {
    trust(System.getenv("SSL_CERT_FILE"));
    JsonNode described = JSON.readTree(new File(System.getenv("AZURE_ENVIRONMENT_FILEPATH")));
    String url = described.get("resourceManagerEndpoint").asText().replaceAll("/$", "");
    String sub = System.getenv("AZURE_SUBSCRIPTION_ID"), tenant = System.getenv("AZURE_TENANT_ID");
    String audience = described.get("tokenAudience").asText();
    AzureEnvironment environment = new AzureEnvironment(new HashMap<>(Map.of(
        "resourceManagerEndpointUrl", url, "managementEndpointUrl", audience, "activeDirectoryEndpointUrl", url + "/",
        "activeDirectoryResourceId", audience, "microsoftGraphResourceId", url + "/")));
    AzureProfile profile = new AzureProfile(tenant, sub, environment);
    TokenRequestContext scope = new TokenRequestContext().addScopes("https://management.azure.com/.default");
    TokenCredential credential = new ManagedIdentityCredentialBuilder().build();
    t("ManagedIdentityCredential", () -> must(!credential.getTokenSync(scope).isExpired(), "expired"));
    t("ClientSecretCredential", () -> must(!new ClientSecretCredentialBuilder().authorityHost(url).disableInstanceDiscovery().tenantId(tenant)
        .clientId("app").clientSecret(System.getenv("FAKEAZURE_SECRET")).build().getTokenSync(scope).isExpired(), "expired"));
    t("ClientSecretCredential, another secret", () -> {
      try {
        new ClientSecretCredentialBuilder().authorityHost(url).disableInstanceDiscovery().tenantId(tenant).clientId("app").clientSecret("s")
            .build().getTokenSync(scope);
      } catch (RuntimeException e) {
        must(String.valueOf(e.getMessage()).contains("AADSTS7000215"), e);
        return;
      }
      must(false, "it succeeded");
    });
    RetryPolicy never = new RetryPolicy(new FixedDelay(0, Duration.ofMillis(1)));
    ResourceManager rm = ResourceManager.configure().withRetryPolicy(never).authenticate(credential, profile).withSubscription(sub);
    ComputeManager cm = ComputeManager.configure().withRetryPolicy(never).authenticate(credential, profile);
    NetworkManager nm = NetworkManager.configure().withRetryPolicy(never).authenticate(credential, profile);
    groups(rm, sub);
    lists(cm, nm);
    networks(nm);
    machines(cm, nm);
    disks(cm);
    scaleSets(cm, nm);
    clusters(ContainerServiceManager.configure().withRetryPolicy(never).authenticate(credential, profile));
    identities(
        MsiManager.configure().withRetryPolicy(never).authenticate(credential, profile),
        AuthorizationManager.configure().withRetryPolicy(never).authenticate(credential, profile), sub);
    resources(rm);
    t("virtualMachines.deleteByResourceGroup", () -> {
      cm.virtualMachines().deleteByResourceGroup(G, "vm4");
      must(cm.virtualMachines().listByResourceGroup(G).stream().noneMatch(vm -> vm.name().equals("vm4")), "it is still there");
    });
    t("resourceGroups.deleteByName", () -> {
      rm.resourceGroups().deleteByName(G);
      must(!rm.resourceGroups().contain(G), "it is still there");
    });
    System.exit(0);
  }

  static void groups(ResourceManager rm, String sub) throws Exception {
    t("subscriptions.list", () -> must(rm.subscriptions().list().stream().anyMatch(s -> s.subscriptionId().equals(sub)), "ours is not there"));
    t("subscription.listLocations", () -> must(rm.subscriptions().getById(sub).listLocations().stream()
        .anyMatch(l -> l.name().equals("eastus") && l.displayName().equals("East US")), "no eastus"));
    t("resourceGroups.define", () -> must(rm.resourceGroups().define(G).withRegion(EASTUS).withTag("a", "b").create().tags().get("a").equals("b"), "tags"));
    t("resourceGroups.contain", () -> must(rm.resourceGroups().contain(G), "it is not there"));
    t("resourceGroups.contain, none", () -> must(!rm.resourceGroups().contain("nope"), "it is there"));
    t("resourceGroups.listByTag", () -> must(rm.resourceGroups().listByTag("a", "b").stream().map(g -> g.name()).toList().equals(List.of(G)), "others"));
  }

  static void lists(ComputeManager cm, NetworkManager nm) throws Exception {
    t("computeSkus.listByRegion", () -> must(cm.computeSkus().listByRegion(EASTUS).stream()
        .anyMatch(s -> s.name().toString().equals(SIZE) && !s.zones().get(EASTUS).isEmpty()), "no " + SIZE + " with zones"));
    t("computeSkus.listByRegionAndResourceType", () -> must(
        cm.computeSkus().listByRegionAndResourceType(EASTUS, ComputeResourceType.DISKS).stream()
            .anyMatch(s -> s.name().toString().equals("Premium_LRS")), "no Premium_LRS"));
    t("usages.listByRegion", () -> must(cm.usages().listByRegion(EASTUS).stream().anyMatch(u -> u.name().value().equals("cores") && u.limit() > 0), "no cores"));
    t("networks usages.listByRegion", () -> must(nm.usages().listByRegion(EASTUS).stream().anyMatch(u -> u.limit() > 0), "none"));
    t("virtualMachines.sizes", () -> must(cm.virtualMachines().sizes().listByRegion(EASTUS).stream()
        .anyMatch(s -> s.name().equals(SIZE) && s.numberOfCores() == 2 && s.memoryInMB() == 8192), "no " + SIZE));
    t("virtualMachineImages.publishers", () -> must(cm.virtualMachineImages().publishers().listByRegion(EASTUS).stream()
        .anyMatch(p -> p.name().equals("Canonical")), "no Canonical"));
  }

  static void networks(NetworkManager nm) throws Exception {
    t("networks.define", () -> must(nm.networks().define("v").withRegion(EASTUS).withExistingResourceGroup(G).withAddressSpace("10.0.0.0/16")
        .withSubnet("s", "10.0.0.0/24").create().subnets().get("s").addressPrefix().equals("10.0.0.0/24"), "subnet"));
    t("networks.update, another subnet", () -> must(nm.networks().getByResourceGroup(G, "v").update().withSubnet("s2", "10.0.1.0/24").apply()
        .subnets().keySet().equals(Set.of("s", "s2")), "subnets"));
    t("networkSecurityGroups.define", () -> {
      var nsg = nm.networkSecurityGroups().define("nsg").withRegion(EASTUS).withExistingResourceGroup(G).defineRule("ssh").allowInbound()
          .fromAnyAddress().fromAnyPort().toAnyAddress().toPort(22).withProtocol(SecurityRuleProtocol.TCP).withPriority(100).attach().create();
      must(nsg.securityRules().get("ssh").priority() == 100, "rule");
      must(nsg.defaultSecurityRules().size() == 6, "default rules");
    });
    refused("publicIpAddresses.define, Basic", "IPv4BasicSkuPublicIpCountLimitReached", () -> nm.publicIpAddresses().define("old").withRegion(EASTUS)
        .withExistingResourceGroup(G).withSku(PublicIPSkuType.BASIC).withDynamicIP().create());
  }

  static void machines(ComputeManager cm, NetworkManager nm) throws Exception {
    t("virtualMachines.define, image by name", () -> {
      var address = nm.publicIpAddresses().define("vmip").withRegion(EASTUS).withExistingResourceGroup(G).withSku(PublicIPSkuType.STANDARD)
          .withStaticIP().withLeafDomainLabel("javavm");
      VirtualMachine vm = cm.virtualMachines().define("vm").withRegion(EASTUS).withExistingResourceGroup(G)
          .withExistingPrimaryNetwork(nm.networks().getByResourceGroup(G, "v")).withSubnet("s").withPrimaryPrivateIPAddressDynamic()
          .withNewPrimaryPublicIPAddress(address).withPopularLinuxImage(KnownLinuxVirtualMachineImage.UBUNTU_SERVER_20_04_LTS_GEN2)
          .withRootUsername("azureuser").withSsh(KEY).withNewDataDisk(10).withSize(SIZE).create();
      must(vm.powerState().equals(PowerState.RUNNING), vm.powerState());
      must(vm.dataDisks().get(0).size() == 10, "data disk");
      must(vm.getPrimaryPublicIPAddress().fqdn().startsWith("javavm."), vm.getPrimaryPublicIPAddress().fqdn());
    });
    t("virtualMachines.define, latest image", () -> {
      VirtualMachine vm = cm.virtualMachines().define("vm4").withRegion(EASTUS).withExistingResourceGroup(G)
          .withExistingPrimaryNetwork(nm.networks().getByResourceGroup(G, "v")).withSubnet("s").withPrimaryPrivateIPAddressDynamic()
          .withoutPrimaryPublicIPAddress().withLatestLinuxImage("Canonical", "ubuntu-24_04-lts", "server").withRootUsername("azureuser")
          .withSsh(KEY).withSize(SIZE).create();
      must(vm.storageProfile().imageReference().exactVersion() != null, "no exact version");
    });
    t("virtualMachines.getByResourceGroup", () -> {
      VirtualMachine vm = cm.virtualMachines().getByResourceGroup(G, "vm4");
      must(vm.powerState().equals(PowerState.RUNNING) && vm.osDiskSize() == 30, vm.osDiskSize());
      must(vm.timeCreated() != null && vm.vmId().length() == 36, vm.vmId());
      must(vm.getPrimaryNetworkInterface().primaryPrivateIP().startsWith("10.0.0."), "address");
    });
    t("virtualMachine.listAvailableSizes", () -> must(cm.virtualMachines().getByResourceGroup(G, "vm4").availableSizes().stream().count() > 100, "few"));
    changesOf(cm, "powerOff", PowerState.STOPPED, () -> cm.virtualMachines().powerOff(G, "vm4"));
    changesOf(cm, "deallocate", PowerState.DEALLOCATED, () -> cm.virtualMachines().deallocate(G, "vm4"));
    changesOf(cm, "start", PowerState.RUNNING, () -> cm.virtualMachines().start(G, "vm4"));
    changesOf(cm, "restart", PowerState.RUNNING, () -> cm.virtualMachines().restart(G, "vm4"));
    changesOf(cm, "redeploy", PowerState.RUNNING, () -> cm.virtualMachines().redeploy(G, "vm4"));
    t("virtualMachine.update, a disk", () -> {
      VirtualMachine vm = cm.virtualMachines().getByResourceGroup(G, "vm4").update().withNewDataDisk(20).apply();
      must(vm.dataDisks().values().stream().map(d -> d.size()).toList().equals(List.of(20)), "data disks");
    });
    t("virtualMachine.update, tag and size", () -> {
      VirtualMachine vm = cm.virtualMachines().getByResourceGroup(G, "vm4").update().withTag("x", "y").withSize("Standard_D4s_v5").apply();
      must(vm.size().toString().equals("Standard_D4s_v5") && vm.tags().get("x").equals("y"), vm.size());
      must(vm.dataDisks().size() == 1, "the disk is lost");
    });
    t("virtualMachine.runShellScript", () -> must(cm.virtualMachines().getByResourceGroup(G, "vm4").runShellScript(List.of("echo"), List.of())
        .value().get(0).code().equals("ProvisioningState/succeeded"), "code"));
    t("virtualMachine.generalize", () -> {
      cm.virtualMachines().powerOff(G, "vm");
      cm.virtualMachines().getByResourceGroup(G, "vm").generalize();
      must(cm.virtualMachines().getByResourceGroup(G, "vm").instanceView().statuses().stream().anyMatch(s -> s.code().equals("OSState/generalized")), "state");
    });
    t("virtualMachineCustomImages.define", () -> must(cm.virtualMachineCustomImages().define("image").withRegion(EASTUS).withExistingResourceGroup(G)
        .fromVirtualMachine(cm.virtualMachines().getByResourceGroup(G, "vm")).create().osDiskImage() != null, "no disk"));
    t("availabilitySets.define", () -> must(cm.availabilitySets().define("avset").withRegion(EASTUS).withExistingResourceGroup(G)
        .withFaultDomainCount(2).create().faultDomainCount() == 2, "fault domains"));
  }

  static void changesOf(ComputeManager cm, String name, PowerState then, Operation operation) throws Exception {
    t("virtualMachines." + name, () -> {
      operation.run();
      PowerState now = cm.virtualMachines().getByResourceGroup(G, "vm4").powerState();
      must(now.equals(then), now);
    });
  }

  static void disks(ComputeManager cm) throws Exception {
    t("disks.define", () -> must(cm.disks().define("d").withRegion(EASTUS).withExistingResourceGroup(G).withData().withSizeInGB(32)
        .withSku(DiskSkuTypes.PREMIUM_LRS).create().sku().equals(DiskSkuTypes.PREMIUM_LRS), "sku"));
    t("disk.update", () -> must(cm.disks().getByResourceGroup(G, "d").update().withSizeInGB(64).apply().sizeInGB() == 64, "size"));
    t("disks.grantAccess", () -> {
      must(cm.disks().grantAccess(G, "d", AccessLevel.READ, 300).startsWith("https://"), "no address");
      must(diskState(cm).equals(DiskState.ACTIVE_SAS), diskState(cm));
    });
    t("disks.revokeAccess", () -> {
      cm.disks().revokeAccess(G, "d");
      must(diskState(cm).equals(DiskState.UNATTACHED), diskState(cm));
    });
    t("snapshots.define", () -> must(cm.snapshots().define("sn").withRegion(EASTUS).withExistingResourceGroup(G)
        .withDataFromDisk(cm.disks().getByResourceGroup(G, "d")).create().sizeInGB() == 64, "size"));
  }

  static DiskState diskState(ComputeManager cm) {
    return cm.disks().getByResourceGroup(G, "d").innerModel().diskState();
  }

  static void scaleSets(ComputeManager cm, NetworkManager nm) throws Exception {
    t("loadBalancers.define", () -> {
      var address = nm.publicIpAddresses().define("lbip").withRegion(EASTUS).withExistingResourceGroup(G).withSku(PublicIPSkuType.STANDARD)
          .withStaticIP().create();
      must(nm.loadBalancers().define("lb").withRegion(EASTUS).withExistingResourceGroup(G).defineLoadBalancingRule("r")
          .withProtocol(TransportProtocol.TCP).fromExistingPublicIPAddress(address).fromFrontendPort(80).toBackend("b").toBackendPort(80).attach()
          .withSku(LoadBalancerSkuType.STANDARD).create().backends().containsKey("b"), "backend");
    });
    t("virtualMachineScaleSets.define, load balancer", () -> must(scaleSet(cm, nm, "ss", true).capacity() == 2, "capacity"));
    t("virtualMachineScaleSets.define", () -> must(scaleSet(cm, nm, "s2", false).capacity() == 2, "capacity"));
    t("virtualMachineScaleSet.update, capacity", () -> {
      VirtualMachineScaleSet set = cm.virtualMachineScaleSets().getByResourceGroup(G, "s2").update().withCapacity(3).apply();
      must(set.capacity() == 3, set.capacity());
      must(set.storageProfile().imageReference() != null && set.osDiskCachingType() != null, "the profile is lost");
    });
    t("virtualMachineScaleSet.virtualMachines", () -> allAre(cm, PowerState.RUNNING));
    t("virtualMachineScaleSets.deallocate", () -> {
      cm.virtualMachineScaleSets().deallocate(G, "s2");
      allAre(cm, PowerState.DEALLOCATED);
    });
    t("virtualMachineScaleSets.start", () -> {
      cm.virtualMachineScaleSets().start(G, "s2");
      allAre(cm, PowerState.RUNNING);
    });
    t("virtualMachineScaleSets.deleteInstances", () -> {
      cm.virtualMachineScaleSets().deleteInstances(G, "s2", List.of("0"), false);
      must(cm.virtualMachineScaleSets().getByResourceGroup(G, "s2").virtualMachines().list().stream().map(vm -> vm.instanceId()).toList()
          .equals(List.of("1", "2")), "instances");
    });
    t("virtualMachineScaleSet.listNetworkInterfaces", () -> must(cm.virtualMachineScaleSets().getByResourceGroup(G, "s2").listNetworkInterfaces()
        .stream().filter(nic -> nic.primaryPrivateIP().startsWith("10.0.0.")).count() == 2, "interfaces"));
  }

  /** The three instances of the set `s2` are in this power state. */
  static void allAre(ComputeManager cm, PowerState state) {
    var states = cm.virtualMachineScaleSets().getByResourceGroup(G, "s2").virtualMachines().list().stream().map(vm -> vm.powerState()).toList();
    must(states.equals(List.of(state, state, state)), states);
  }

  static VirtualMachineScaleSet scaleSet(ComputeManager cm, NetworkManager nm, String name, boolean balanced) {
    var network = cm.virtualMachineScaleSets().define(name).withRegion(EASTUS).withExistingResourceGroup(G)
        .withSku(VirtualMachineScaleSetSkuTypes.fromSkuNameAndTier(SIZE, "Standard"))
        .withExistingPrimaryNetworkSubnet(nm.networks().getByResourceGroup(G, "v"), "s");
    var behind = balanced
        ? network.withExistingPrimaryInternetFacingLoadBalancer(nm.loadBalancers().getByResourceGroup(G, "lb"))
            .withPrimaryInternetFacingLoadBalancerBackends("b").withoutPrimaryInternalLoadBalancer()
        : network.withoutPrimaryInternetFacingLoadBalancer().withoutPrimaryInternalLoadBalancer();
    return behind.withLatestLinuxImage("Canonical", "ubuntu-24_04-lts", "server").withRootUsername("azureuser").withSsh(KEY).create();
  }

  static void clusters(ContainerServiceManager km) throws Exception {
    var size = ContainerServiceVMSizeTypes.fromString(SIZE);
    t("kubernetesClusters.define", () -> {
      KubernetesCluster cluster = km.kubernetesClusters().define("jc").withRegion(EASTUS).withExistingResourceGroup(G).withDefaultVersion()
          .withSystemAssignedManagedServiceIdentity().defineAgentPool("ap").withVirtualMachineSize(size).withAgentPoolVirtualMachineCount(1)
          .withAgentPoolMode(AgentPoolMode.SYSTEM).attach().withDnsPrefix("jc").create();
      must(cluster.powerState().code().equals(Code.RUNNING), cluster.powerState().code());
      must(cluster.fqdn().startsWith("jc"), cluster.fqdn());
    });
    t("kubernetesCluster.userKubeConfigs", () -> must(
        new String(km.kubernetesClusters().getByResourceGroup(G, "jc").userKubeConfigs().get(0).value()).contains("kind: Config"), "no kubeconfig"));
    t("kubernetesCluster.update, count", () -> must(km.kubernetesClusters().getByResourceGroup(G, "jc").update().updateAgentPool("ap")
        .withAgentPoolVirtualMachineCount(3).parent().apply().agentPools().get("ap").count() == 3, "count"));
    t("kubernetesCluster.update, another pool", () -> must(km.kubernetesClusters().getByResourceGroup(G, "jc").update().defineAgentPool("up")
        .withVirtualMachineSize(size).withAgentPoolVirtualMachineCount(1).withAgentPoolMode(AgentPoolMode.USER).withSpotPriorityVirtualMachine()
        .attach().apply().agentPools().keySet().equals(Set.of("ap", "up")), "pools"));
    t("kubernetesClusters.stop", () -> {
      km.kubernetesClusters().stop(G, "jc");
      must(km.kubernetesClusters().getByResourceGroup(G, "jc").powerState().code().equals(Code.STOPPED), "it runs");
    });
    t("kubernetesClusters.start", () -> {
      km.kubernetesClusters().start(G, "jc");
      must(km.kubernetesClusters().getByResourceGroup(G, "jc").powerState().code().equals(Code.RUNNING), "it is stopped");
    });
    t("kubernetesClusters.listKubernetesVersions", () -> must(!km.kubernetesClusters().listKubernetesVersions(EASTUS).isEmpty(), "none"));
    t("kubernetesClusters.deleteByResourceGroup", () -> {
      km.kubernetesClusters().deleteByResourceGroup(G, "jc");
      must(km.kubernetesClusters().listByResourceGroup(G).stream().count() == 0, "it is still there");
    });
  }

  static void identities(MsiManager im, AuthorizationManager am, String sub) throws Exception {
    t("identities.define", () -> must(im.identities().define("id").withRegion(EASTUS).withExistingResourceGroup(G).create().principalId().length() == 36, "principal"));
    t("roleDefinitions.listByScope", () -> must(am.roleDefinitions().listByScope("/subscriptions/" + sub).stream()
        .anyMatch(r -> r.roleName().equals("Contributor")), "no Contributor"));
    t("roleAssignments.define", () -> {
      String group = "/subscriptions/" + sub + "/resourceGroups/" + G;
      String role = am.roleDefinitions().getByScopeAndRoleName(group, "Contributor").id();
      String principal = im.identities().getByResourceGroup(G, "id").principalId();
      String name = "11111111-2222-3333-4444-555555555555";
      must(am.roleAssignments().define(name).forObjectId(principal).withRoleDefinition(role).withScope(group).create().principalId().equals(principal), "principal");
    });
  }

  static void resources(ResourceManager rm) throws Exception {
    t("genericResources.listByResourceGroup", () -> must(rm.genericResources().listByResourceGroup(G).stream()
        .map(r -> r.resourceType()).collect(Collectors.toSet()).containsAll(Set.of("virtualMachines", "disks", "virtualNetworks")), "types"));
    t("deployments.define", () -> {
      Map<String, Object> template = Map.of(
          "$schema", "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion", "1.0.0.0",
          "parameters", Map.of("n", Map.of("type", "int")), "resources", List.of(),
          "outputs", Map.of("twice", Map.of("type", "int", "value", "[mul(parameters('n'), 2)]")));
      var done = rm.deployments().define("dep").withExistingResourceGroup(G).withTemplate(template)
          .withParameters(Map.of("n", Map.of("value", 21))).withMode(DeploymentMode.INCREMENTAL).create();
      must(done.provisioningState().equals("Succeeded"), done.provisioningState());
      must(((Map<?, ?>) ((Map<?, ?>) done.outputs()).get("twice")).get("value").equals(42), done.outputs());
    });
    t("providers.getByName", () -> must(rm.providers().getByName("Microsoft.Compute").registrationState().equals("Registered"), "state"));
  }
}
