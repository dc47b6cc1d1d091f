"""Who asks for `amd.com/gpu` is told which sizes have it, where they are sold, and what a Node of them needs."""

from __future__ import annotations

from harness import World
from harness.explain.pods.bound_to import binding_lines
from harness.testing import nodeclass, nodepool, pod

SIZE = "Standard_ND96isr_MI300X_v5"


def lines(amount: str = "1", **inputs: str) -> str:
    world = World(**inputs)
    world.apply(nodeclass(), nodepool())
    asked = pod()
    asked["spec"]["containers"][0]["resources"] = {
        "limits": {"amd.com/gpu": amount},
        "requests": {"amd.com/gpu": amount},
    }
    return "\n".join(binding_lines(world, asked))


def test_a_size_of_another_region_is_named_with_its_regions() -> None:
    told = lines(region="eastus")
    assert f"whole GPUs of AMD have {SIZE}, none of them in eastus; sold in " in told
    assert "eastus2" in told
    assert "spec.gpu.mode: None" in told


def test_a_size_of_this_region_is_named() -> None:
    assert f"sold in westus: {SIZE}" in lines(region="westus")


def test_an_older_release_counts_none() -> None:
    assert lines(karpenter="1.10.2") == "Karpenter 1.10.2 counts no GPUs of AMD on any size, which 1.12.0 began with"


def test_nothing_is_said_to_others() -> None:
    assert lines("0") == ""
