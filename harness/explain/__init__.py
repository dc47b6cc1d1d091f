"""Why: the scheduler's ledger in words, who wrote a label, what things cost."""
