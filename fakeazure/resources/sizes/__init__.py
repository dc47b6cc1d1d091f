"""What can be had and what it costs: the lists of sizes, quotas, spot placement scores, retail prices."""
