"""Changes that no test can notice, each with the reason."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "fakeazure/catalog/tables.py",
        "read",
        "31",
        "32",
    ): "zlib reads gzip with 32, too, by what the file says of itself",
    (
        "harness/karpenter/disruption/loop.py",
        "DisruptionController._at",
        "1",
        "2",
    ): "a nanosecond: periods are whole seconds",
    (
        "harness/karpenter/scheduling/fleet.py",
        "StateNodes._renew",
        "1",
        "2",
    ): "places are compared only: 2 comes behind 0 as well as 1 does",
}
"""(file, function, expression before, after) → why nothing can come of it."""
