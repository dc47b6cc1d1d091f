"""Reasons: the scheduler's ledger in words, who wrote a label, and the costs of things."""
