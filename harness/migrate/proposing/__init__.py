"""NodePools and AKSNodeClasses in the place of agent pools, and a row for each field that says what became of it."""
