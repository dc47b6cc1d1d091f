"""Expanders: which of the node groups that would help pods grows."""
