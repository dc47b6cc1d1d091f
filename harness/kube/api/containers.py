"""The containers of a pod."""

from harness.kube.api.objects import Object, spec_of

__all__ = ["running_containers", "sidecars_of"]


def sidecars_of(pod: Object) -> list[Object]:
    """Return the init containers that run beside the containers: those that are restarted always."""
    inits = spec_of(pod).get("initContainers") or ()
    return [container for container in inits if container.get("restartPolicy") == "Always"]


def running_containers(pod: Object) -> list[Object]:
    """Return the containers of a pod and its sidecars, which run as long as it does."""
    return [*(spec_of(pod).get("containers") or ()), *sidecars_of(pod)]
