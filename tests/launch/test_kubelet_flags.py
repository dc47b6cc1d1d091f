"""What kubelets are told differs by release of the provider, and by Kubernetes (kaz pkg/providers/imagefamily/bootstrap of each)."""

import base64
from typing import Any

import pytest

from tests.launch.conftest import nodeclaim
from tests.launch.test_bodies import Launcher, variables

OLD = {"--cloud-config", "--pod-infra-container-image", "--keep-terminated-pod-volumes"}


def told(launch: Launcher, release: str, kubernetes: str = "1.33.0", **more: Any) -> dict[str, str]:
    more["spec"] = {"imageFamily": "Ubuntu2204", **more.get("spec", {})}
    made = launch(nodeclaim("default-abcde", size=["Standard_D2s_v3"]), release=release, kubernetes=kubernetes, **more)
    return variables(made.vm["properties"]["osProfile"]["customData"])


def flags(launch: Launcher, release: str, kubernetes: str = "1.33.0", **more: Any) -> dict[str, str]:
    words = told(launch, release, kubernetes, **more)["KUBELET_FLAGS"].split(" ")
    return dict(word.split("=", 1) for word in words)


@pytest.mark.parametrize(
    ("release", "kubernetes", "passed"),
    [
        ("1.4.0", "1.30.0", OLD),
        ("1.4.0", "1.31.0", OLD - {"--keep-terminated-pod-volumes"}),
        ("1.6.5", "1.34.0", OLD - {"--keep-terminated-pod-volumes"}),
        ("1.6.6", "1.33.0", OLD - {"--keep-terminated-pod-volumes"}),
        ("1.6.6", "1.34.0", {"--pod-infra-container-image"}),
        ("1.7.2", "1.35.0", {"--pod-infra-container-image"}),
        ("1.10.2", "1.35.0", set()),
        ("1.14.0", "1.30.0", OLD),
    ],
)
def test_flags_that_kubelets_lose(launch: Launcher, release: str, kubernetes: str, passed: set[str]) -> None:
    assert OLD & flags(launch, release, kubernetes).keys() == passed


@pytest.mark.parametrize(("release", "passed"), [("1.4.0", False), ("1.6.5", True), ("1.14.0", True)])
def test_fields_of_the_nodeclass(launch: Launcher, release: str, passed: bool) -> None:
    kubelet = {"imageGCHighThresholdPercent": 90, "cpuManagerPolicy": "static", "podPidsLimit": 100}
    found = flags(launch, release, spec={"kubelet": kubelet})
    assert found["--image-gc-high-threshold"] == "90"
    assert ("--cpu-manager-policy" in found, found["--pod-max-pids"]) == (passed, "100" if passed else "-1")


@pytest.mark.parametrize(("release", "address"), [("1.6.5", "10.0.0.10"), ("1.6.6", "10.2.0.10")])
def test_the_dns_service_of_the_option(launch: Launcher, release: str, address: str) -> None:
    assert flags(launch, release, dns_service_ip="10.2.0.10")["--cluster-dns"] == address


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("1.4.0", ("vmss", None, "true", "1.32.3", True)),
        ("1.6.6", ("vmss", None, "true", "1.33.0", True)),
        ("1.7.2", ("vmss", "15m", "true", "1.33.0", True)),
        ("1.10.2", ("standard", "15m", "true", "1.33.0", True)),
        ("1.12.2", ("standard", "15m", "false", "1.33.0", True)),
        ("1.13.1", ("standard", "15m", "false", "1.33.0", False)),
    ],
)
def test_variables_of_the_script(launch: Launcher, release: str, expected: tuple[object, ...]) -> None:
    found = told(launch, release, "1.34.0")
    provider = found["CREDENTIAL_PROVIDER_DOWNLOAD_URL"].rpartition("-v")[2].removesuffix(".tar.gz")
    names = ("VM_TYPE", "CSE_TIMEOUT", "CONFIG_GPU_DRIVER_IF_NEEDED")
    assert (*(found.get(name) for name in names), provider, bool(found["KUBE_BINARY_URL"])) == expected


@pytest.mark.parametrize(
    ("release", "kubernetes", "version"),
    [
        ("1.14.0", "1.29.9", None),
        ("1.14.0", "1.30.0", "1.30.12"),
        ("1.14.0", "1.31.5", "1.31.6"),
        ("1.14.0", "1.32.0", "1.32.5"),
        ("1.14.0", "1.33.0", "1.33.0"),
        ("1.14.0", "1.36.0", "1.33.0"),  # the newest known
        ("1.4.0", "1.29.0", None),
        ("1.4.0", "1.30.0", "1.30.10"),
        ("1.4.0", "1.33.0", "1.32.3"),
    ],
)
def test_registries_are_signed_in_to_by_a_plugin_since_kubernetes_1_30(
    launch: Launcher, release: str, kubernetes: str, version: str | None
) -> None:
    """Kaz pkg/providers/imagefamily/bootstrap/aksbootstrap.go, CredentialProviderURL."""
    url = told(launch, release, kubernetes)["CREDENTIAL_PROVIDER_DOWNLOAD_URL"]
    assert url.rpartition("-amd64-v")[2].removesuffix(".tar.gz") == (version or "")
    found = flags(launch, release, kubernetes)
    old = {"--feature-gates", "--azure-container-registry-config"}
    new = {"--image-credential-provider-config", "--image-credential-provider-bin-dir"}
    assert (old | new) & found.keys() == (old if version is None else new)


@pytest.mark.parametrize(
    ("release", "driver"),
    [
        ("1.4.0", ("cuda", "550.144.03", "20250328201547")),
        ("1.12.2", ("cuda", "550.144.03", "20250328201547")),
        ("1.13.1", ("cuda", "580.126.09", "20260126030251")),
        ("1.14.0", ("cuda-lts", "580.159.04", "20260629214430")),
    ],
)
def test_gpu_drivers(launch: Launcher, release: str, driver: tuple[str, str, str]) -> None:
    claim = nodeclaim("default-abcde", size=["Standard_NC16as_T4_v3"])
    made = launch(claim, release=release, kubernetes="1.33.0", spec={"imageFamily": "Ubuntu2204"})
    found = variables(made.vm["properties"]["osProfile"]["customData"])
    assert (found["GPU_DRIVER_TYPE"], found["GPU_DRIVER_VERSION"], found["GPU_IMAGE_SHA"]) == driver


@pytest.mark.parametrize(("release", "installed"), [("1.10.2", "true"), ("1.12.2", "false")])
def test_a_gpu_without_a_driver(launch: Launcher, release: str, installed: str) -> None:
    """`spec.gpu.mode` counts since 1.12; before, the CRD did not have it."""
    claim = nodeclaim("default-abcde", size=["Standard_NC16as_T4_v3"])
    made = launch(
        claim, release=release, kubernetes="1.33.0", spec={"imageFamily": "Ubuntu2204", "gpu": {"mode": "None"}}
    )
    text = base64.b64decode(made.vm["properties"]["osProfile"]["customData"]).decode()
    assert f"GPU_NODE={installed}\n" in text
