"""Sizes and their prices: the lists of sizes, quotas, spot placement scores, retail prices."""
