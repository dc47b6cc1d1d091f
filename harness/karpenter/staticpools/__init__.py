"""NodePools that keep up a number of nodes (``replicas``), whether pods need them or not."""
