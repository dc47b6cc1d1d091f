"""`given.timing`, `given.simulation` and the step `timing`: how long things take."""

from pydantic import Field

from harness.scenario.language.models.base import Duration, Flag, MaybeNever, Model

__all__ = ["GivenTiming", "Simulation", "Timing"]


class Simulation(Model):
    """Durations of Karpenter's scheduling simulation: virtual time, which may end it early and passes before its results."""

    attempt: Duration | None = Field(None, description="What each attempt to place a pod takes; 0.8 ms when absent.")
    limit: Duration | None = Field(None, description="When the simulation stops; Karpenter's one minute when absent.")


class Timing(Model):
    """Durations of the steps from a NodeClaim to a pod that runs, in virtual time. `never`: it does not happen."""

    request: Duration | None = Field(
        None,
        description="From Karpenter's first look at a NodeClaim to the first call that makes its machine; 100 ms when absent.",
    )
    answer: Duration | None = Field(
        None,
        description="From such a call until its outcome stands in the NodeClaim's status; 25 ms when absent, real Azure takes longer.",
    )
    boot: MaybeNever | None = Field(None, description="From power-on to the creation of the Node; 30 s when absent.")
    cloud_node_manager: MaybeNever | None = Field(
        None, description="From there until the Node has zone, region and size, and loses its taint; 0 s when absent."
    )
    registration: Duration | None = Field(
        None, description="From the creation of the Node to its registration by Karpenter; 200 ms when absent."
    )
    ready: MaybeNever | None = Field(None, description="From the creation of the Node to Ready; 5 s when absent.")
    device_plugin: MaybeNever | None = Field(None, description="From Ready to the Node's GPUs; 5 s when absent.")
    initialization: Duration | None = Field(
        None, description="From when nothing is in the way to the initialization by Karpenter; 0 s when absent."
    )
    pod_start: Duration | None = Field(
        None, description="From the binding of a pod to its running, before its probes; 0 s when absent."
    )
    pod_stop: Duration | None = Field(None, description="From the deletion of a pod to its end; 1 s when absent.")
    job_pod: MaybeNever | None = Field(
        None,
        description="For how long the containers of a Job's pod run, unless its annotation karpenter-harness/runs-for says it; "
        "5 min when absent.",
    )
    silence: Duration | None = Field(
        None,
        description="After which a Node whose machine stopped is Unknown; 50 s when absent, 40 s before Kubernetes 1.32.",
    )
    eviction_notice: MaybeNever | None = Field(
        None,
        description="From the notice that a spot VM will be taken until its Node has the condition PreemptionScheduled; 1 s when absent.",
    )


class GivenTiming(Timing):
    """The times from the beginning of a case on."""

    recorded: Flag | None = Field(
        None,
        description="true: machines and Azure take as long as in a recorded run (swedencentral, 2025-04-29): 94 s from a NodeClaim to its "
        "initialization, 51 s from the taint of a Node to its end, about 47 s and 12 s otherwise. Single keys go before it.",
    )
