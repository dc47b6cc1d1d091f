"""Changes that no test can notice, each with the reason."""

_LAST_DIGIT = "the 19th digit of 0.9223372036854775808 and its neighbours is worth less than is left of a nanosecond"
_FIRST_FAMILY = "no size of the data takes what it says of ultra disks from the first family of the list"
_SHORT = "lists of up to 12 are sorted by insertion, so none of 8 comes here"
_LEAVES = "elements past the parents have no children, so nothing sinks"
_NEVER_MET = "both loops before stop at a key that is one side's or the other's, so i and j never meet here"
_EQUAL_BEFORE = "what stands before equals the pivot when this is called, so it is passed over"
_COUNTS_CHANGES = "whether the number is another one than before is all that is asked of it"
_SET_BEFORE = "each turn sets it before it reads it"
_FIRST_NANOSECOND = "it is compared with a turn's beginning, and none begins in the first nanosecond"
_SORT = "harness/kube/go/sort.py"

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "fakeazure/beginning.py",
        "Beginning.state",
        "state.timing.graph_lag > 0",
        "state.timing.graph_lag >= 0",
    ): "without a lag what is remembered is the present",
    ("fakeazure/catalog/tables.py", "sizes", "like >= 0", "like > 0"): _FIRST_FAMILY,
    ("fakeazure/catalog/tables.py", "sizes", "like >= 0", "like >= 1"): _FIRST_FAMILY,
    (
        "fakeazure/market/imports.py",
        "_entries",
        'f"no list of {what}: an entry is {entry!r}"[:200]',
        'f"no list of {what}: an entry is {entry!r}"[:201]',
    ): "where the text of a wrong entry is cut off",
    (
        "fakeazure/catalog/tables.py",
        "read",
        "wbits=31",
        "wbits=32",
    ): "zlib reads gzip with 32, too, by what the file says of itself",
    (
        "harness/karpenter/disruption/budgets.py",
        "unreadable",
        'allowed_disruptions(nodepool, 100, "", now)',
        'allowed_disruptions(nodepool, 101, "", now)',
    ): "how many nodes there are makes no budget unreadable",
    (
        "harness/karpenter/disruption/methods/balanced.py",
        "approves",
        "len(by_pool) > 1",
        "len(by_pool) >= 1",
    ): "the share of the only NodePool is 1",
    (
        "harness/karpenter/disruption/methods/balanced.py",
        "_disruption_cost",
        "(value := eviction_cost(pod, rules)) > 0",
        "(value := eviction_cost(pod, rules)) >= 0",
    ): "what costs nothing adds nothing",
    (
        "harness/karpenter/disruption/loop.py",
        "DisruptionController._at",
        "max(moment - self._began, 1)",
        "max(moment - self._began, 2)",
    ): "a nanosecond: periods are whole seconds",
    (
        "harness/karpenter/disruption/loop.py",
        "_Rest.__init__",
        "self.rested = False",
        "self.rested = True",
    ): _SET_BEFORE,
    (
        "harness/karpenter/disruption/loop.py",
        "_Rest.__init__",
        "self.unfinished = False",
        "self.unfinished = True",
    ): _SET_BEFORE,
    (
        "harness/karpenter/disruption/events/deduplication.py",
        "EventDeduplication._say_of_node",
        "self._silent.get(told.about, 0)",
        "self._silent.get(told.about, 1)",
    ): _FIRST_NANOSECOND,
    (
        "harness/karpenter/disruption/events/deduplication.py",
        "EventDeduplication._say_of_node",
        "default=0",
        "default=1",
    ): _FIRST_NANOSECOND,
    (
        "harness/karpenter/scheduling/nodeclaims/planned.py",
        "PlannedNodeClaim.truncate",
        "self.mask.bit_count() > self._rules.max_instance_types",
        "self.mask.bit_count() >= self._rules.max_instance_types",
    ): "the cheapest of as many as there may be are all of them",
    (
        "harness/karpenter/scheduling/nodes/listed.py",
        "ordered_changes",
        "place(new) <= place(old)",
        "place(new) < place(old)",
    ): "what is new at the same place comes with the next comparison",
    (
        "harness/karpenter/scheduling/topology/topology.py",
        "Topology._step",
        "base.steps + 1",
        "base.steps + 2",
    ): "steps are put in order and never counted",
    (
        "harness/karpenter/lifecycle/nodes/termination.py",
        "NodeTermination._steps",
        "claim is None or conditions is None",
        "claim is None and conditions is None",
    ): "there are conditions where there is a NodeClaim",
    ("harness/karpenter/lifecycle/marks.py", "Marks._set", "self.changes += 1", "self.changes += 2"): _COUNTS_CHANGES,
    (
        "harness/karpenter/provisioning/provisioner.py",
        "Provisioner._route",
        "self._changes += 1",
        "self._changes += 2",
    ): _COUNTS_CHANGES,
    (
        "harness/kube/api/quantity.py",
        "_parse",
        "scale >= -9",
        "scale > -9",
    ): "at nine digits nothing is rounded, whichever way it is counted",
    (
        "harness/kube/deletion_order.py",
        "_compare",
        "a.restarts > b.restarts",
        "a.restarts >= b.restarts",
    ): "they differ where this is asked",
    (
        "harness/kube/go/durations.py",
        "print_duration",
        "nanoseconds < 0",
        "nanoseconds <= 0",
    ): "zero is told before",
    (
        "harness/kube/go/durations.py",
        "_fraction",
        "value * 10 + int(digit) > _LIMIT",
        "value * 10 + int(digit) >= _LIMIT",
    ): _LAST_DIGIT,
    ("harness/kube/go/durations.py", "_fraction", "value * 10 + int(digit)", "value * 10 - int(digit)"): _LAST_DIGIT,
    ("harness/kube/go/sort.py", "choose_pivot", "length >= 8", "length > 8"): _SHORT,
    ("harness/kube/go/sort.py", "choose_pivot", "length >= 8", "length >= 9"): _SHORT,
    ("harness/kube/go/sort.py", "_Sorter.scatter", "length < 8", "length <= 8"): _SHORT,
    ("harness/kube/go/sort.py", "_Sorter.scatter", "length < 8", "length < 9"): _SHORT,
    (_SORT, "_Sorter.heap", "(length - 1) // 2", "(length - 1) * 2"): _LEAVES,
    (_SORT, "_Sorter.heap", "length - 1", "length + 1"): _LEAVES,
    (_SORT, "_Sorter.insertion", "low + 1", "low - 1"): "elements up to the first are where they are already",
    (_SORT, "_Sorter.partition", "i > j", "i >= j"): _NEVER_MET,
    (_SORT, "_Sorter.partition_equal", "i > j", "i >= j"): _NEVER_MET,
    (_SORT, "_Sorter.partition_equal", "low + 1", "low - 1"): _EQUAL_BEFORE,
    (_SORT, "_Sorter.partition_equal", "i + 1", "i - 1"): "equal keys are passed over again",
    (_SORT, "_Sorter.repair", "i - low", "i + low"): "no key is smaller than those before the range",
    (_SORT, "_Sorter.repair", "high - i", "high + i"): "the loop inside ends where the range does",
    (
        "harness/karpenter/scheduling/nodes/fleet.py",
        "StateNodes._renew",
        "(1, counted[0])",
        "(2, counted[0])",
    ): "places are compared only: 2 comes behind 0 as well as 1 does",
}
"""(file, function, expression before, after) → why nothing can come of it."""
