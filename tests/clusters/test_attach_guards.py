"""What lets `harness attach` speak to a server and call an object its own, by the rules alone, without a cluster."""

from __future__ import annotations

import ssl

import pytest

from harness.clusters.remote.ownership import Ownership
from harness.clusters.remote.reached import Reached
from harness.kube.api.objects import Object


def reached(**trust: object) -> Reached:
    return Reached("mine", "https://10.0.0.1:6443", trust=trust)


def test_the_name_in_a_certificate_is_checked() -> None:
    tls = reached().endpoint().tls
    assert tls is not None
    assert (tls.check_hostname, tls.verify_mode) == (True, ssl.CERT_REQUIRED)


def test_a_kubeconfig_may_say_which_name_it_is() -> None:
    assert reached(**{"tls-server-name": "api.example.com"}).endpoint().server_name == "api.example.com"


def test_a_kubeconfig_may_say_that_no_name_is_checked() -> None:
    tls = reached(**{"insecure-skip-tls-verify": True}).endpoint().tls
    assert tls is not None
    assert (tls.check_hostname, tls.verify_mode) == (False, ssl.CERT_NONE)


def node(name: str, uid: str, owner: tuple[str, str] | None = None) -> Object:
    owners = [{"kind": "Node", "name": owner[0], "uid": owner[1], "apiVersion": "v1"}] if owner else []
    return {"kind": "Node", "metadata": {"name": name, "uid": uid, "ownerReferences": owners}}


@pytest.mark.parametrize(("uid", "ours"), [("1", True), ("2", False)])
def test_an_owner_is_the_object_of_its_uid_not_of_its_name(uid: str, ours: bool) -> None:
    """Somebody's object that names an owner of the run's which was made anew under the same name, or that never was there."""
    ownership = Ownership("run")
    owner = ownership.stamped(node("owner", "1"))
    theirs = node("theirs", "3", owner=("owner", uid))
    assert ownership.owns(theirs, lambda kind, name, namespace: owner if name == "owner" else None) is ours
