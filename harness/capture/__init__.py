"""From a dump or a live cluster to a scenario that anybody may read: what decides where pods go, and nothing else."""
