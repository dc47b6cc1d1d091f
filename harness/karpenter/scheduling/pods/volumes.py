"""Volumes of pods: the claims behind them, the CSI drivers that attach them, and where they can be attached.

Core ``pkg/scheduling/volumeusage.go``, ``pkg/controllers/provisioning/scheduling/volumetopology.go``, ``pkg/utils/volume``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.requirement import IN
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of

Volumes = dict[str, set[str]]
"""Claims (``namespace/name``) by CSI driver."""

_CSI_OF_IN_TREE = {
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/rbd": "rbd.csi.ceph.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}


class VolumeError(ValueError):
    """A claim, volume or storage class that a pod needs is missing or unusable; the message is Karpenter's."""


class VolumeNotFound(VolumeError):
    """The object does not exist."""


class VolumeLookup:
    """Claims, volumes and storage classes of a snapshot, by name. What is missing has its kind in the error: a cache says so."""

    def __init__(self, snapshot: ClusterSnapshot) -> None:
        self._claims = {(namespace_of(pvc), name_of(pvc)): pvc for pvc in snapshot.pvcs}
        self._volumes = {name_of(pv): pv for pv in snapshot.pvs}
        self._classes = {name_of(sc): sc for sc in snapshot.storageclasses}

    def claim(self, pod: Object, volume: Mapping[str, Any]) -> Object | None:
        """The claim of a pod's volume, None for other kinds of volumes. Raises VolumeNotFound."""
        name = self.claim_name(pod, volume)
        if name is None:
            return None
        claim = self._claims.get((namespace_of(pod), name))
        if claim is None:
            raise VolumeNotFound(f'PersistentVolumeClaim "{name}" not found')
        return claim

    @staticmethod
    def claim_name(pod: Object, volume: Mapping[str, Any]) -> str | None:
        """The name of the claim of a pod's volume, None for other kinds of volumes."""
        if volume.get("persistentVolumeClaim") is not None:
            return volume["persistentVolumeClaim"].get("claimName") or ""
        return f"{name_of(pod)}-{volume.get('name')}" if volume.get("ephemeral") is not None else None

    def volume(self, name: str) -> Object:
        """Return a PersistentVolume. Raises VolumeNotFound."""
        if name not in self._volumes:
            raise VolumeNotFound(f'PersistentVolume "{name}" not found')
        return self._volumes[name]

    def storage_class(self, name: str) -> Object:
        """Return a StorageClass. Raises VolumeNotFound."""
        if name not in self._classes:
            raise VolumeNotFound(f'StorageClass.storage.k8s.io "{name}" not found')
        return self._classes[name]

    def demands(
        self, algebra: Algebra, rules: SchedulingRules, pod: Object
    ) -> tuple[tuple[RequirementSet, ...] | None, Volumes | None, str]:
        """Return the demands of the pod's volumes on a node, as alternatives, and its claims by driver; None for
        those that cannot be looked up.

        The last item says in Karpenter's words why the claims by driver cannot be.
        """
        alternatives: tuple[RequirementSet, ...] | None
        try:
            if rules.volumes_have_alternatives:
                alternatives = self.requirements(algebra, pod)
            else:
                first = self.first_terms(pod)
                apart = first and not rules.volumes_in_affinity
                alternatives = (algebra.from_node_selector(first),) if apart else ()
        except VolumeError:
            alternatives = None
        try:
            return alternatives, self.of(pod), ""
        except VolumeError as error:
            return alternatives, None, str(error)

    def of(self, pod: Object) -> Volumes:
        """The pod's claims that count against attach limits, by driver. Missing claims do not count. Raises VolumeError."""
        volumes: Volumes = {}
        for volume in spec_of(pod).get("volumes") or ():
            try:
                claim = self.claim(pod, volume)
            except VolumeNotFound:
                continue
            if claim is not None and (driver := self.driver(claim)):
                volumes.setdefault(driver, set()).add(f"{namespace_of(claim)}/{name_of(claim)}")
        return volumes

    def driver(self, claim: Object) -> str:
        """The CSI driver of a claim: its volume's, else its storage class's; empty when there is none. Raises VolumeNotFound."""
        spec = spec_of(claim)
        if spec.get("volumeName"):
            volume = spec_of(self.volume(spec["volumeName"]))
            if volume.get("csi") is not None:
                return volume["csi"].get("driver") or ""
            return "ebs.csi.aws.com" if volume.get("awsElasticBlockStore") is not None else ""
        storage_class = self._classes.get(spec.get("storageClassName") or "")
        if storage_class is None:
            return ""
        provisioner: str = storage_class.get("provisioner") or ""
        return _CSI_OF_IN_TREE.get(provisioner, provisioner)

    def requirements(self, algebra: Algebra, pod: Object) -> tuple[RequirementSet, ...]:
        """Alternatives of where all volumes of the pod can be attached; none means anywhere. Raises VolumeError.

        Alternatives of several volumes multiply; combinations that contradict themselves are left out, unless all do.
        """
        alternatives: tuple[RequirementSet, ...] = ()
        for volume in spec_of(pod).get("volumes") or ():
            terms = self._terms(algebra, pod, volume)
            if not terms:
                continue
            if not alternatives:
                alternatives = terms
                continue
            pairs = [(a, b) for a in alternatives for b in terms]
            usable = [(a, b) for a, b in pairs if _intersect(algebra, a, b)] or pairs
            alternatives = tuple(algebra.together(a, b.items) for a, b in usable)
        return alternatives

    def first_terms(self, pod: Object) -> list[Mapping[str, Any]]:
        """The first alternative of each of the pod's volumes, as node selector requirements. Raises VolumeError."""
        expressions: list[Mapping[str, Any]] = []
        for volume in spec_of(pod).get("volumes") or ():
            claim = self.claim(pod, volume)
            spec = spec_of(claim) if claim is not None else {}
            if spec.get("volumeName"):
                alternatives = _volume_expressions(spec_of(self.volume(spec["volumeName"])))
            elif spec.get("storageClassName"):
                alternatives = _class_expressions(self.storage_class(spec["storageClassName"]))
            else:
                continue
            expressions.extend(alternatives[0] if alternatives else ())
        return expressions

    def _terms(self, algebra: Algebra, pod: Object, volume: Mapping[str, Any]) -> tuple[RequirementSet, ...]:
        claim = self.claim(pod, volume)
        if claim is None:
            return ()
        spec = spec_of(claim)
        if spec.get("volumeName"):
            volume_spec = spec_of(self.volume(spec["volumeName"]))
            # A term of a local volume that names its host only means anywhere: the volume goes where the pod goes.
            has_expressions = [bool(term.get("matchExpressions")) for term in _volume_terms(volume_spec)]
            terms = [term for term, says in zip(_volume_expressions(volume_spec), has_expressions, strict=True) if says]
        elif spec.get("storageClassName"):
            terms = [term for term in _class_expressions(self.storage_class(spec["storageClassName"])) if term]
        else:
            return ()
        return tuple(algebra.from_node_selector(term) for term in terms)


def _intersect(algebra: Algebra, a: RequirementSet, b: RequirementSet) -> bool:
    shared = {key: requirement for key, requirement in b.items.items() if key in a.items}
    return algebra.conflict(a.items, shared) is None


def _volume_terms(spec: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    required = (spec.get("nodeAffinity") or {}).get("required") or {}
    return [term or {} for term in required.get("nodeSelectorTerms") or ()]


def _volume_expressions(spec: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """The expressions of each term of a volume's node affinity, of its fields none; a local volume's host does not count."""
    local = spec.get("local") is not None or spec.get("hostPath") is not None
    return [
        [
            expression
            for expression in term.get("matchExpressions") or ()
            if not (local and expression.get("key") == HOSTNAME)
        ]
        for term in _volume_terms(spec)
    ]


def _class_expressions(storage_class: Object) -> list[list[Mapping[str, Any]]]:
    return [
        [{**expression, "operator": IN} for expression in topology.get("matchLabelExpressions") or ()]
        for topology in storage_class.get("allowedTopologies") or ()
    ]
