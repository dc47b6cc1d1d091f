"""A cluster in memory: an API server's store, its admission, its scheduler and its workload controllers."""
