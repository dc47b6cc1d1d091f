"""From agent pools to NodePools: what a cluster has, what takes its place, what becomes of its workloads on the way."""
