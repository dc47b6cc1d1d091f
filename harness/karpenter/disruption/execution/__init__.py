"""Commands under way: what they change in the cluster, and how they end."""
