"""Pods as simulations see them: which of them wait, what they ask for, what they would rather have, and their volumes."""
