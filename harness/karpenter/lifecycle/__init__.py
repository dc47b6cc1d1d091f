"""The life of NodeClaims and their Nodes: launch, registration, initialization, liveness, termination, garbage collection."""
