"""The pictures of one world are made of its trace alone: a short story, written by hand, and what each picture says of it."""

from __future__ import annotations

from typing import Any

from harness.reports.picture.left_alone import left_alone
from harness.reports.picture.world import world_page, world_value
from tests.reports.test_picture import data_of

HEADER = {
    "trace": 1, "harness": "0.1.0", "release": "1.14.0", "kubernetes": "1.34.0", "region": "eastus", "mode": "aksscriptless",
    "seed": 0, "cluster": "memory", "karpenter": "simulated", "epoch": 0.0,
    "scenario": {"file": "a.yaml", "line": 1, "name": "a story"},
}  # fmt: skip
SMALL, LARGE = "Standard_D2s_v5", "Standard_D4s_v5"
SPOT = {"size": SMALL, "zone": "eastus-1", "capacity_type": "spot"}
ROOM = {"cpu": 1.9, "memory": 4e9, "pods": 250, "hugepages-2Mi": 0}


def fact(t: float, fact_kind: str, /, **values: Any) -> dict[str, Any]:
    return {"t": t, "fact": fact_kind, **values}


STORY = [
    HEADER,
    fact(0, "step", text="settle", file="a.yaml", line=4),
    fact(0, "object", object="Deployment/web", verb="apply", manifest={"kind": "Deployment"}, file="a.yaml", line=30),
    fact(0, "pod", pod="default/web-1", state="created", owner="Deployment/web", requests={"cpu": 0.5}),
    fact(0, "pod", pod="default/web-2", state="created", owner="Deployment/web", requests={"cpu": 0.5}),
    fact(0, "pod", pod="default/huge", state="created", requests={"cpu": 900}),
    fact(0, "pod", pod="default/huge", state="pending", why="no nodes available to schedule pods"),
    fact(1, "sizes", number=1, nodepool="default", sold=5, dropped={"confidential": ["a", "b"]}, offered=[SMALL, LARGE, "c"]),
    fact(1, "funnel", number=1, nodepool="default", sizes=1, steps=[{"filter": "NodePool", "left": 2, "removed": "2"}]),
    fact(1, "decision", pods=["default/web-1", "default/web-2"], result="nodeclaim", simulation=1, target="NodeClaim/one",
         tried=[{"nodepool": "default", "funnel": 1}]),
    fact(1, "decision", pods=["default/huge"], result="refused", simulation=1, why="no instance type has enough resources",
         tried=[{"nodepool": "default", "why": "too large"}]),
    fact(1, "claim", claim="one", state="created", nodepool="default", sizes=[SMALL, LARGE]),
    fact(2, "arm", number=1, method="GET", operation="virtualMachines", name="aks-one", status=404, error="ResourceNotFound"),
    fact(2, "arm", number=2, method="PUT", operation="virtualMachines", name="aks-one", status=409, error="SkuNotAvailable",
         message="is not available", size=LARGE, zone="eastus-2", priority="Spot", claim="one"),
    fact(2, "blocked", size=LARGE, zone="eastus-2", capacity_type="spot", until=3602.0, reason="SKUNotAvailable"),
    fact(3, "claim", claim="one", state="launched", nodepool="default", vm="aks-one", **SPOT),
    fact(10, "boot", vm="aks-one", state="on", claim="one", **SPOT),
    fact(10, "price", size=SMALL, capacity_type="spot", price=0.02),
    fact(10, "cost", price=0.02, machines=1),
    fact(40, "node", node="aks-one", state="created", vm="aks-one", nodepool="default", size=SMALL, capacity_type="spot"),
    fact(40, "label", node="aks-one", key="priority", kind="set", by="kubelet", value="regular"),
    fact(41, "label", node="aks-one", key="priority", kind="overwrote", by="karpenter", value="spot", **{"from": "vm"}),
    fact(41, "label", node="aks-one", key="tier", kind="refused", by="kubelet", value="x"),
    fact(42, "claim", claim="one", state="registered", nodepool="default", node="aks-one", vm="aks-one", **SPOT),
    fact(45, "claim", claim="one", state="initialized", nodepool="default", node="aks-one", vm="aks-one", **SPOT),
    fact(45, "node", node="aks-one", state="ready", vm="aks-one", claim="one", nodepool="default", **SPOT),
    fact(45, "pod", pod="default/web-1", state="bound", node="aks-one"),
    fact(45, "pod", pod="default/web-2", state="bound", node="aks-one"),
    fact(45, "usage", node="aks-one", pods=["default/web-1", "default/web-2"], requests={"cpu": 1, "pods": 2}, allocatable=ROOM),
    fact(1000, "disruption", nodes=[{"node": "aks-one", "claim": "one", "nodepool": "default", "price": 0.02}], decision="delete",
         reason="Empty", replacements=[], savings=0.02),
    fact(1010, "boot", vm="aks-one", state="deleted", claim="one", **SPOT),
    fact(1010, "cost", price=0.0, machines=0),
    fact(1010, "claim", claim="one", state="deleted", nodepool="default"),
    fact(1010, "node", node="aks-one", state="deleted"),
    fact(1010, "thing-of-a-later-version", text="passed over"),
    fact(1810, "advice", pods=["default/huge"], lines=["It would help to ask for less"]),
    fact(1810, "end", outcome="failed", facts=34),
]  # fmt: skip
VALUE = world_value(STORY)


def lane(kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [one for one in VALUE["lanes"] if (one["kind"], one["name"]) == (kind, name)]
    return found


def test_a_claim_walks_the_corridor() -> None:
    claim = lane("claim", "one")
    assert [(what, start, end) for what, start, end, _ in claim["parts"]] == [
        ("launching", 1, 3),
        ("booting", 3, 42),
        ("initializing", 42, 45),
        ("ready", 45, 1010),
    ]
    marks = {what: (t, text) for t, what, text in claim["marks"]}
    assert marks["refused"] == (
        2,
        "SkuNotAvailable Standard_D4s_v5 eastus-2 Spot: is not available; left alone for 1h, until 1h2s: D4s_v5: spot in eastus-2",
    )
    assert marks["disrupted"] == (1000, "delete: Empty")
    assert [t for t, what, _ in claim["marks"] if what == "power"] == [10, 1010]


def test_pods_alike_share_a_lane() -> None:
    web = lane("pod", "default/web-1")
    assert (web["pods"], web["claim"]) == (["default/web-1", "default/web-2"], "one")
    assert web["place"] == {"file": "a.yaml", "line": 30}
    assert [part[:3] for part in web["parts"]] == [["pending", 0, 45], ["bound", 45, 1810]]
    assert [part[:3] for part in lane("pod", "default/huge")["parts"]] == [["pending", 0, 1810]]


def test_a_name_that_comes_again_is_another_thing() -> None:
    again = [
        HEADER,
        *(
            fact(t, "pod", pod="default/db-0", state=state)
            for t, state in ((0, "created"), (5, "deleted"), (6, "created"))
        ),
        fact(9, "end", outcome="", facts=3),
    ]
    lanes = world_value(again)["lanes"]
    assert [[part[:3] for part in one["parts"]] for one in lanes] == [[["pending", 0, 5]], [["pending", 6, 9]]]


def test_what_is_left_alone_has_a_lane() -> None:
    assert lane("blocked", "D4s_v5, spot")["parts"] == [["blocked", 2, 3602.0, "in eastus-2", "SKUNotAvailable"]]


def test_who_waits_and_why() -> None:
    (waiting,) = VALUE["pending"]
    assert waiting["pods"] == ["default/huge"]
    assert waiting["why"] == "no instance type has enough resources"
    assert waiting["scheduler"] == "no nodes available to schedule pods"
    assert waiting["advice"] == ["It would help to ask for less"]
    assert waiting["tried"] == [{"nodepool": "default", "why": "too large"}]


def test_what_azure_refused() -> None:
    (refusal,) = VALUE["refusals"]  # that a machine is not there is no refusal
    assert (refusal["error"], refusal["size"], refusal["zone"], refusal["claim"]) == (
        "SkuNotAvailable",
        LARGE,
        "eastus-2",
        "one",
    )
    assert refusal["blocked"] == [{"time": "for 1h, until 1h2s", "what": "D4s_v5: spot in eastus-2"}]


def test_what_it_costs() -> None:
    assert VALUE["cost"] == [[10, 0.02, 1], [1010, 0.0, 0]]
    assert VALUE["spent"] == round(0.02 * 1000 / 3600, 6)
    unknown = fact(2000, "cost", price=0.0, machines=1, unpriced=[LARGE])
    assert world_value([*STORY, unknown])["cost"][-1] == [2000, 0.0, 1, True]  # less than what is paid
    (card,) = VALUE["machines"]
    assert card["power"] == [[10, True], [1010, False]]
    assert card["prices"] == [[10, 0.02]]
    assert card["usage"] == [
        [45, ["default/web-1", "default/web-2"], {"cpu": 1, "pods": 2}, {"cpu": 1.9, "memory": 4e9, "pods": 250}]
    ]
    assert (card["states"], card["initialized"]) == ([[40, "created"], [45, "ready"], [1010, "deleted"]], 45)
    assert card["notes"] == [[1000, "disrupted", "delete: Empty"]]


def test_the_funnel_ends_with_what_was_launched() -> None:
    assert VALUE["funnels"]["1"]["steps"] == [{"filter": "NodePool", "left": 2, "removed": "2"}]
    web = VALUE["asked"][1]
    assert (web["name"], web["count"], web["waits"], [one["claim"] for one in web["tries"]]) == (
        "Deployment/web",
        2,
        False,
        ["one"],
    )
    assert VALUE["claims"] == {"one": {"ordered": [SMALL, LARGE], "launched": SMALL}}
    assert VALUE["sizes"]["1"]["dropped"] == {"confidential": ["a", "b"]}


def test_who_wrote_a_label() -> None:
    (table,) = VALUE["labels"]
    rows = {row["key"]: row for row in table["keys"]}
    assert rows["priority"]["value"] == "spot"
    assert [(one["by"], one["kind"]) for one in rows["priority"]["writes"]] == [
        ("kubelet", "set"),
        ("karpenter", "overwrote"),
    ]
    assert rows["tier"]["value"] is None


def test_moments_name_what_happens() -> None:
    told = {(one["t"], one["kind"]): one["text"] for one in VALUE["moments"]}
    assert told[0, "step"] == "settle"
    assert told[3, "launched"] == "launched: one"
    assert told[1000, "disrupted"] == "delete for Empty: aks-one"


def test_a_node_that_is_told_as_ready_twice_is_one_moment() -> None:
    ready = [fact(50, "node", node=name, state="ready") for name in ("aks-a", "aks-b", "aks-a", "aks-b")]
    (moment,) = world_value([STORY[0], *ready])["moments"]
    assert (moment["text"], moment["count"]) == ("ready: aks-a, ready: aks-b", 2)


def test_an_empty_story_has_a_page() -> None:
    data = data_of(world_page([HEADER, fact(0, "end", outcome="", facts=0)]))
    assert isinstance(data, dict)
    assert data["world"]["lanes"] == data["world"]["cost"] == []
    assert data["world"]["spent"] == 0


def waits(*facts: dict[str, Any]) -> dict[str, Any]:
    """The box of a pod that waits, of which these facts are known."""
    (found,) = world_value([HEADER, fact(0, "pod", pod="default/db", state="created"), *facts])["pending"]
    return dict(found)


def asked(t: float, claim: str) -> list[dict[str, Any]]:
    return [
        fact(
            t, "decision", pods=["default/db"], result="nodeclaim", simulation=1, target=f"NodeClaim/{claim}", tried=[]
        ),
        fact(t, "claim", claim=claim, state="created", nodepool="default", sizes=[LARGE]),
    ]


def test_a_pod_whose_machines_are_all_refused_says_so() -> None:
    refusal = {
        "method": "PUT",
        "operation": "virtualMachines",
        "name": "vm",
        "status": 409,
        "error": "OperationNotAllowed",
    }
    refused = [
        one
        for t in (1, 2, 3)
        for one in (*asked(t, f"c{t}"), fact(t, "arm", number=t, claim=f"c{t}", size=LARGE, **refusal))
    ]
    words = "asked for a machine 3 times; Azure refused each: OperationNotAllowed (D4s_v5)"
    assert waits(*refused)["tries"] == words
    assert waits(*refused, *asked(4, "c4"))["tries"] == f"{words}; it asks again with NodeClaim/c4"
    assert waits(*asked(1, "one"))["tries"] == ""


def test_a_runaway_counts_its_machines() -> None:
    made = [
        one
        for t in (1, 2)
        for one in (
            *asked(t, f"c{t}"),
            *(
                fact(t, "claim", claim=f"c{t}", state=state, nodepool="default")
                for state in ("launched", "initialized")
            ),
        )
    ]
    assert waits(*made)["tries"] == "2 machines were made for it, none fits"


def test_a_runaway_is_told_with_its_loops() -> None:
    def found(t: float, names: str) -> dict[str, Any]:
        loops = [
            {"at": number, "made": [f"NodeClaim/{name}"], "why": f"NodeClaim/{names[number - 1]} is no help"}
            for number, name in enumerate(names)
        ]
        return fact(t, "runaway", subject="Pod/default/db", loops=loops, course="one is made", fault="a/b")

    value = world_value([HEADER, found(5, "abcd"), found(9, "efghi")])
    (one,) = value["runaways"]
    assert (one["subject"], one["course"], one["count"], one["fault"]) == ("Pod/default/db", "one is made", 5, "a/b")
    assert one["loops"] == [
        "loop 1 at 0s: created NodeClaim/e because NodeClaim/i is no help",
        "loop 2 at 1s: created NodeClaim/f because NodeClaim/e is no help",
        "loops 3 to 5: the same, the last at 4s created NodeClaim/i",
    ]
    assert "a runaway" in value["gist"]


def test_machines_without_power_are_counted_apart() -> None:
    boot = fact(2, "boot", vm="aks-one", state="on", claim="one", **SPOT)
    claims = [
        fact(t, "claim", claim=name, state=state, nodepool="default")
        for t, name, state in (
            (1, "one", "launched"),
            (2, "two", "created"),
            (3, "three", "launched"),
            (1, "four", "created"),
            (3, "four", "deleted"),
        )
    ]
    assert world_value([HEADER, boot, *claims])["without_power"] == 2


def test_a_spot_machine_without_a_spot_price() -> None:
    at_most = [fact(1, "price", size=SMALL, capacity_type="spot", price=0.192, as_on_demand=True)]
    (card,) = world_value([HEADER, fact(0, "boot", vm="vm", state="on", **SPOT), *at_most])["machines"]
    assert card["prices"] == [[1, 0.192, True]]


def test_a_node_without_its_label_is_still_of_its_nodepool() -> None:
    claim = {"claim": "one", "nodepool": "default", "vm": "aks-one"}
    (card,) = world_value(
        [
            HEADER,
            fact(1, "claim", state="launched", **claim),
            fact(9, "node", node="aks-one", state="created", vm="aks-one"),
        ]
    )["machines"]
    assert (card["claim"], card["nodepool"], card["registered"]) == ("one", "default", None)
    assert VALUE["machines"][0]["registered"] == 42


def test_a_machine_that_azure_takes() -> None:
    gone = fact(500, "boot", vm="aks-one", state="deleted", evicted=True, claim="one", **SPOT)
    value = world_value([*STORY[:-9], gone, fact(600, "end", outcome="", facts=1)])
    (taken,) = value["taken"]
    assert (taken["t"], taken["vm"], taken["capacity_type"]) == (500, "aks-one", "spot")
    last = {one["name"]: one["parts"][-1][:3] for one in value["lanes"] if one["kind"] in ("claim", "pod")}
    assert last["one"] == last["default/web-1"] == ["lost", 500, 600]
    assert last["default/huge"] == ["pending", 0, 600]


def test_the_gist_says_what_stands_out() -> None:
    assert VALUE["gist"] == ["1 pod waits", "Azure refused 1 request", "1 decision to remove nodes"]
    calm = [
        HEADER,
        fact(0, "pod", pod="default/web", state="created"),
        fact(1, "pod", pod="default/web", state="bound"),
    ]
    assert world_value([*calm, fact(9, "end", outcome="passed", facts=2)])["gist"] == []


def test_a_notice_and_a_loss_have_signs_of_their_own() -> None:
    told = [
        HEADER,
        fact(1, "claim", claim="one", state="created", nodepool="default"),
        fact(2, "claim", claim="one", state="launched", nodepool="default", vm="aks-one", **SPOT),
        fact(5, "boot", vm="aks-one", state="on", claim="one", **SPOT),
        fact(60, "boot", vm="aks-one", state="preempting", claim="one", **SPOT),
        fact(90, "boot", vm="aks-one", state="deleted", evicted=True, claim="one", **SPOT),
        fact(91, "end", outcome="", facts=6),
    ]
    (claim,) = [one for one in world_value(told)["lanes"] if one["kind"] == "claim"]
    assert [(t, what, text) for t, what, text in claim["marks"] if what != "power"] == [
        (60, "notice", "Azure announces that it will take the machine"),
        (90, "taken", "Azure takes the machine"),
    ]


def test_a_pod_that_waits_says_which_sizes_would_do_and_cannot_be_had() -> None:
    mark = {"what": "mark", "name": "SKUNotAvailable", "until": 3602.0, "removed": "0"}
    steps = [
        {"filter": "NodePool", "left": 2, "removed": "2"},
        {"filter": "available", "left": 0, "removed": "0-1", "closed": [
            mark, {**mark, "until": 7200.0}, {"what": "quota", "name": "standardDSv5Family", "limit": 4, "removed": "1"},
        ]},
    ]  # fmt: skip
    told = [
        HEADER,
        fact(0, "pod", pod="default/web", state="created"),
        fact(0, "pod", pod="default/web", state="pending", why="no nodes"),
        fact(1, "sizes", number=1, nodepool="default", sold=3, dropped={}, offered=[SMALL, LARGE, "c"]),
        fact(1, "funnel", number=1, nodepool="default", sizes=1, steps=steps),
        fact(1, "decision", pods=["default/web"], result="refused", simulation=1, why="no", tried=[{"nodepool": "default", "funnel": 1}]),
        fact(9, "end", outcome="", facts=5),
    ]  # fmt: skip
    value = world_value(told)
    (waiting,) = value["pending"]
    short = SMALL.removeprefix("Standard_")
    assert waiting["closed"] == [
        f"NodePool default would take {short}, not to be had: "
        "Azure refused it, and Karpenter leaves it alone until 1h2s (its word for that: SKUNotAvailable)",
        "NodePool default would take D4s_v5, not to be had: Azure's quota standardDSv5Family has 0 of 4 vCPUs left",
    ]
    (funnel,) = value["funnels"].values()
    assert list(funnel["steps"][1]["closed"].values()) == [[0], [1]]


def test_the_last_reason_to_keep_a_node_reaches_its_card() -> None:
    said = [
        fact(50, "event", type="Normal", object="Node/aks-one", reason="DisruptionBlocked", message="Node is nominated for a pending pod"),
        fact(60, "event", type="Normal", object="Node/aks-one", reason="Unconsolidatable", message="SpotToSpotConsolidation is disabled"),
        fact(61, "event", type="Normal", object="Node/aks-one", reason="Ready", message="is no reason to stay"),
    ]  # fmt: skip
    (card,) = world_value([*STORY[:-1], *said, STORY[-1]])["machines"]
    assert [note for note in card["notes"] if note[1] == "blocked"][-1] == [
        60,
        "blocked",
        "SpotToSpotConsolidation is disabled",
    ]


def test_a_page_says_how_much_that_was_said_it_leaves_off() -> None:
    said = [
        fact(50, "event", type="Normal", object="Node/aks-one", reason="Ready", message=str(number))
        for number in range(2003)
    ]
    value = world_value([*STORY[:-1], *said, STORY[-1]])
    assert (len(value["told"]), value["untold"]) == (2000, 3)
    assert (len(VALUE["told"]), VALUE["untold"]) == (0, 0)


def test_a_nomination_says_for_which_pods_and_since_when() -> None:
    said = "Node is nominated for a pending pod"
    event = fact(
        50, "event", object="Node/aks-one", type="Normal", reason="DisruptionBlocked", message=said, source="karpenter"
    )
    again = fact(48, "decision", pods=["default/late"], result="existing", simulation=2, target="Node/aks-one")
    (card,) = world_value([*STORY[:-2], again, event, *STORY[-2:]])["machines"]
    assert [50, "blocked", f"{said}, since 48s: late"] in card["notes"]
    bound = fact(49, "pod", pod="default/late", state="bound", node="aks-two")
    (card,) = world_value([*STORY[:-2], again, bound, event, *STORY[-2:]])["machines"]
    assert [50, "blocked", f"{said}, since 48s: late (runs on aks-two since 49s)"] in card["notes"]


def test_an_error_that_keeps_all_nodes_reaches_their_cards() -> None:
    def failed(t: float, error: str) -> dict[str, Any]:
        return fact(
            t, "log", level="error", controller="disruption", message="Reconciler error", values={"error": error}
        )

    whole = "disrupting, computing disruption decision, getting offering price from candidate node"
    said = [failed(50, whole), failed(60, whole), failed(61, "queue: a command of its own")]
    (card,) = world_value([*STORY[:-1], *said, STORY[-1]])["machines"]
    assert [note for note in card["notes"] if note[1] == "blocked"] == [
        [50, "blocked", f"Karpenter cannot decide what to disrupt (2 times until 1m): {whole}"]
    ]


def test_how_long_something_is_left_alone_is_said_once() -> None:
    def mark(t: float) -> dict[str, Any]:
        return fact(t, "blocked", size=LARGE, zone="eastus-2", capacity_type="spot", until=t + 3600, reason="x")

    assert [left_alone([mark(t)])[0]["time"] for t in (0, 60)] == ["for 1h", "for 1h, until 1h1m"]
