"""A made-up cluster of 150 objects, as `kubectl get -o yaml` prints one, with secrets wherever people have them.

Whatever may not leave a cluster has one of `TELLTALES` in it.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

TELLTALES = ("xyzzy", "acme", "8a7b6c5d", "contoso", "10.77.")

SUBSCRIPTION = "8a7b6c5d-1111-2222-3333-444455556666"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/acme-prod"
SECRET = "xyzzy-password"

Object = dict[str, Any]


def metadata(name: str, namespace: str = "", **more: Any) -> Object:
    """As a server keeps it, with what kubectl apply and people put there."""
    number = crc32(name.encode()) % 10**6
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "uid": f"8a7b6c5d-0000-0000-0000-{number:012}",
        "resourceVersion": "77",
        "creationTimestamp": "2026-05-05T05:05:05Z",
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": f'{{"env":"{SECRET}"}}',
            "acme.io/owner": "somebody@acme.example",
            **more.pop("annotations", {}),
        },
        **more,
    }


def template(name: str, cpu: str, **spec: Any) -> Object:
    return {
        "metadata": {
            "labels": {"app": name, "acme.io/team": "acme-payments"},
            "annotations": {"vault.acme.io/token": SECRET},
        },
        "spec": {
            "serviceAccountName": "acme-robot",
            "imagePullSecrets": [{"name": "acme-registry"}],
            "hostAliases": [{"ip": "10.77.0.1", "hostnames": ["db.acme.internal"]}],
            "dnsConfig": {"searches": ["corp.acme.internal"]},
            "securityContext": {"windowsOptions": {"gmsaCredentialSpec": SECRET}},
            "volumes": [
                {"name": "xyzzy", "secret": {"secretName": "acme-tls"}},
                {"name": "share", "azureFile": {"secretName": "acme", "shareName": "contoso"}},
            ],
            "initContainers": [
                {"name": "acme-init", "image": "acme.azurecr.io/init", "command": ["sh", "-c", f"echo {SECRET}"]}
            ],
            "containers": [
                {
                    "name": "acme-main",
                    "image": f"contoso.azurecr.io/payments@sha256:{SECRET}",
                    "args": [f"--token={SECRET}"],
                    "env": [
                        {"name": "ACME_KEY", "value": SECRET},
                        {"name": "XYZZY", "valueFrom": {"secretKeyRef": {"name": "acme", "key": "xyzzy"}}},
                    ],
                    "envFrom": [{"secretRef": {"name": "acme-env"}}],
                    "livenessProbe": {
                        "httpGet": {"path": f"/{SECRET}", "httpHeaders": [{"name": "x", "value": SECRET}]}
                    },
                    "lifecycle": {"preStop": {"exec": {"command": [SECRET]}}},
                    "ports": [{"name": "acme", "containerPort": 8080}],
                    "resources": {
                        "requests": {"cpu": cpu, "memory": "1Gi", "acme.com/fpga": "0"},
                        "limits": {"acme.com/fpga": "0"},
                    },
                }
            ],
            **spec,
        },
    }


def workload(number: int, kind: str, **spec: Any) -> Object:
    name = f"acme-{kind.lower()}-{number}"
    selects: Object = {"selector": {"matchLabels": {"app": name}}} if kind != "Job" else {}
    count = {"replicas": 2} if kind in ("Deployment", "StatefulSet") else {}
    body = {**count, **selects, "template": template(name, "500m", **spec)}
    if kind == "StatefulSet":
        body["serviceName"] = "acme-db"
    if kind == "Job":
        body["template"]["spec"]["restartPolicy"] = "Never"
    version = "batch/v1" if kind == "Job" else "apps/v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata(name, "acme-shop"), "spec": body}


def node(number: int) -> Object:
    name = f"aks-acme-{SUBSCRIPTION[:8]}-vmss{number:06}"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata(
            name,
            labels={
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/region": "westeurope",
                "topology.kubernetes.io/zone": f"westeurope-{number % 3 + 1}",
                "node.kubernetes.io/instance-type": "Standard_D8s_v5",
                "agentpool": "acmepool",
                "kubernetes.azure.com/cluster": "MC_acme-prod_contoso_westeurope",
                "kubernetes.azure.com/mode": "system",
                "kubernetes.azure.com/network-subnet": "acme-subnet",
                "kubernetes.azure.com/nodenetwork-vnetguid": SUBSCRIPTION,
                "kubernetes.azure.com/kubelet-identity-client-id": SUBSCRIPTION,
                "acme.io/rack": "acme-7",
            },
        ),
        "spec": {
            "providerID": f"azure://{GROUP}/providers/Microsoft.Compute/virtualMachineScaleSets/acme/virtualMachines/{number}",
            "podCIDR": "10.77.1.0/24",
            "taints": [{"key": "acme.io/dedicated", "value": "acme", "effect": "NoSchedule"}],
        },
        "status": {
            "capacity": {"cpu": "8", "memory": "32Gi", "pods": "110"},
            "allocatable": {"cpu": "7820m", "memory": "28Gi", "pods": "110"},
            "addresses": [{"type": "InternalIP", "address": "10.77.0.9"}, {"type": "Hostname", "address": name}],
            "images": [{"names": ["contoso.azurecr.io/payments:1"], "sizeBytes": 1}],
            "nodeInfo": {
                "kubeletVersion": "v1.33.2",
                "machineID": SUBSCRIPTION,
                "systemUUID": SUBSCRIPTION,
                "osImage": "Ubuntu",
            },
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "message": f"kubelet {name}",
                    "lastTransitionTime": "2026-05-05T05:05:05Z",
                }
            ],
        },
    }


def nodepool() -> Object:
    reference = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "acme-class"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": metadata("acme-pool"),
        "spec": {
            "weight": 5,
            "limits": {"cpu": "40"},
            "template": {
                "metadata": {"labels": {"acme.io/team": "acme-payments"}, "annotations": {"acme.io/cost": "acme"}},
                "spec": {
                    "nodeClassRef": reference,
                    "expireAfter": "720h",
                    "requirements": [
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                        {"key": "karpenter.azure.com/sku-family", "operator": "In", "values": ["D"]},
                        {"key": "acme.io/rack", "operator": "In", "values": ["acme-7", "acme-8"]},
                    ],
                },
            },
            "disruption": {
                "consolidateAfter": "1m",
                "consolidationPolicy": "WhenEmptyOrUnderutilized",
                "budgets": [{"nodes": "10%", "schedule": "0 9 * * 1-5", "duration": "8h"}],
            },
        },
        "status": {
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "message": SECRET,
                    "lastTransitionTime": "2026-05-05T05:05:05Z",
                    "reason": "Ready",
                }
            ]
        },
    }


def bound_pod(number: int) -> Object:
    name = f"acme-deployment-{number}"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-5d", "uid": "8a7b6c5d", "controller": True}
    made = template(
        name, "500m", nodeName=f"aks-acme-{SUBSCRIPTION[:8]}-vmss{number % 6:06}", tolerations=[{"operator": "Exists"}]
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata(
            f"{name}-5d-acme",
            "acme-shop",
            ownerReferences=[owner],
            labels={**made["metadata"]["labels"], "pod-template-hash": "5d"},
        ),
        "spec": made["spec"],
        "status": {
            "phase": "Running",
            "podIP": "10.77.3.3",
            "containerStatuses": [{"name": "acme", "image": "contoso.azurecr.io/p"}],
        },
    }


def lonely_pod() -> Object:
    """A pod that stays pending: nobody offers its rack."""
    made = template(
        "acme-lonely",
        "1",
        nodeSelector={"acme.io/rack": "acme-9"},
        tolerations=[{"key": "acme.io/x", "operator": "Exists"}],
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata("acme-lonely", "acme-shop", labels=made["metadata"]["labels"]),
        "spec": made["spec"],
    }


def cluster() -> Object:
    """The dump."""
    node_class = {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": metadata("acme-class"),
        "spec": {"imageFamily": "Ubuntu2204", "osDiskSizeGB": 128, "tags": {"owner": "acme", "token": SECRET}},
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata("acme-data", "acme-shop"),
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "8Gi"}},
            "storageClassName": "acme-disks",
        },
    }
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata("acme-disks"),
        "provisioner": "disk.csi.azure.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        "parameters": {"diskEncryptionSetID": f"{GROUP}/des/acme"},
    }
    with_claim = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "acme-data"}}]}
    spread = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"acme.io/team": "acme-payments"}},
            }
        ]
    }
    items: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": metadata("acme-shop", labels={"acme.io/env": "acme-prod"}),
        },
        nodepool(),
        node_class,
        storage_class,
        claim,
        lonely_pod(),
        *(node(number) for number in range(6)),
        *(workload(number, "Deployment", **(spread if number % 2 else {})) for number in range(40)),
        *(bound_pod(number) for number in range(40)),
        workload(0, "StatefulSet", **with_claim),
        *(workload(number, "DaemonSet", tolerations=[{"operator": "Exists"}]) for number in range(3)),
        *(workload(number, "Job") for number in range(3)),
        *(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": metadata(f"acme-{n}", "acme-shop"),
                "data": {"k": SECRET},
            }
            for n in range(20)
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": metadata(f"acme-{n}", "acme-shop"),
                "data": {"k": "eHl6enk="},
            }
            for n in range(20)
        ),
        *(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": metadata(f"acme-{n}", "acme-shop"),
                "spec": {"externalName": "acme.example"},
            }
            for n in range(9)
        ),
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": metadata("acme-budget", "acme-shop"),
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "acme-deployment-1"}}},
        },
        {
            "apiVersion": "acme.io/v1",
            "kind": "Vault",
            "metadata": metadata("acme", "acme-shop"),
            "spec": {"token": SECRET},
        },
    ]
    return {"apiVersion": "v1", "kind": "List", "items": items}
