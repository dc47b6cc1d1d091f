"""`when`: what happens, in order. Without it the manifests are applied and the world settles."""

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import Duration, Integer, Later, Model, Reference, Text
from harness.scenario.language.models.loads import LoadValue

if TYPE_CHECKING:
    from harness.scenario.language.models.agent_pools import AgentPoolStep
    from harness.scenario.language.models.azure import Market
    from harness.scenario.language.models.patch import Patch
    from harness.scenario.language.models.timing import Timing

__all__ = ["ConditionStep", "MachineStep", "Rollout", "Scale", "Step", "StepMap"]


def _texts(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Texts = Annotated[
    list[Text],
    BeforeValidator(_texts),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


References = Annotated[
    list[Reference],
    BeforeValidator(_texts),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Scale(Model):
    """A change of a workload's size."""

    of: Reference = Field(description="Deployment, StatefulSet, ReplicaSet or ReplicationController.")
    replicas: Integer = Field(description="How many pods it has afterwards.")


class MachineStep(Model):
    """Something that happens to machines, and that no object of the cluster tells."""

    of: Reference = Field(description="Whose machines, as in then.node: Pod/web, Node/*, NodePool/default.")
    becomes: Literal["outdated", "stopped", "lost"] = Field(
        description="outdated: AKS wants its machine made anew (driftAction Recreate); stopped: the VM has no power; "
        "lost: it is gone without a word."
    )


class ConditionStep(Model):
    """A condition that something outside the model reports: a node problem detector, a readiness gate's controller."""

    of: Reference = Field(
        description="The object, as Kind/name; `*` stands for any text: Node/* is all Nodes there are."
    )
    type: Text = Field(description="Of the condition, for example kubernetes.azure.com/NodeHealthy.")
    status: Literal["True", "False", "Unknown"] = Field(description="What it says from here on.")
    reason: Text | None = Field(None, description="In one word; Reported when absent.")
    message: Text | None = Field(None, description="For people; empty when absent.")


class Rollout(Model):
    """`kubectl rollout`: exactly one key."""

    restart: References | None = Field(
        None, description="Deployments, StatefulSets or DaemonSets whose pods are all replaced, as their strategy says."
    )
    pause: References | None = Field(None, description="Deployments whose changes are not rolled out from here on.")
    resume: References | None = Field(None, description="Paused Deployments whose changes are rolled out again.")
    undo: References | None = Field(None, description="Deployments that get the template of their revision before.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_key", "exactly one of restart, pause, resume, undo is expected")
        return self


class StepMap(Model):
    """One step: exactly one key."""

    apply: Texts | None = Field(
        None,
        description="Manifest files beside the scenario, or objects of this file by name (Kind/name): those are kept back until here.",
    )
    delete: References | None = Field(
        None, description="Objects to delete, as Kind/name; `*` stands for any text: NodeClaim/default-*."
    )
    patch: Later["Patch"] | None = Field(None, description="A merge patch on an object, or on several alike.")
    condition: Later["ConditionStep"] | None = Field(
        None, description="A condition of an object's status is this from now on; its time is that of the step."
    )
    scale: Later["Scale"] | None = Field(None, description="A new number of replicas.")
    load: dict[Reference, LoadValue] | None = Field(
        None,
        description="What the ready pods of a workload have to do together from here on, so that its HorizontalPodAutoscaler scales it: "
        "{Deployment/web: 150%}, a share of what the pods of its first size request, or {Deployment/web: {cpu: 6, memory: 12Gi}}.",
    )
    crds: Text | None = Field(
        None, description="CRDs installed from here on, as in given.crds; what is stored stays as it is."
    )
    advance: Duration | None = Field(None, description="Time that passes, for example 10m.")
    timing: Later["Timing"] | None = Field(
        None, description="Other times from here on: the same keys as in given.timing; what is not named stays."
    )
    restart: Literal["karpenter"] | None = Field(
        None, description="Karpenter's process ends and starts again: what it had in memory is gone."
    )
    evict: References | None = Field(
        None,
        description="Spot VMs that Azure takes 30 s after a notice, by Node, NodeClaim or pod as Kind/name; `*` stands for any text.",
    )
    cordon: References | None = Field(
        None,
        description="Nodes that take no new pods from here on, as `kubectl cordon` does it; named as in then.node: Node/*, Pod/web.",
    )
    uncordon: References | None = Field(None, description="Cordoned nodes that take pods again.")
    drain: References | None = Field(
        None,
        description="Nodes that are cordoned and whose pods are evicted, as by `kubectl drain --ignore-daemonsets "
        "--delete-emptydir-data --force`: what a budget forbids is tried again after 5 s.",
    )
    rollout: Later["Rollout"] | None = Field(
        None, description="A workload's rollout is restarted, paused, resumed or undone."
    )
    kubernetes: Text | None = Field(
        None, description="The control plane runs this version of Kubernetes from here on; nodes are behind."
    )
    machine: Later["MachineStep"] | None = Field(None, description="Something happens to machines.")
    agent_pool: Later["AgentPoolStep"] | None = Field(
        None, description="An agent pool gets another count, is deleted, or gets other taints."
    )
    azure: Later["Market"] | None = Field(
        None, description="Azure changes: the same keys as in given.azure but asOf; what is not named stays."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("one_key", "one step has exactly one key")
        return self


def _bare(value: Any) -> Any:
    if value == "settle":
        return "settle"
    message = "unknown step '{text}'; the only step without an argument is 'settle'"
    raise PydanticCustomError("step", message, {"text": str(value)})


Settle = Annotated[str, BeforeValidator(_bare), WithJsonSchema({"const": "settle"})]

Step = Annotated[
    Annotated[Settle, Tag("value")] | Annotated[StepMap, Tag("conditions")],
    Discriminator(lambda value: "conditions" if isinstance(value, dict) else "value"),
]
