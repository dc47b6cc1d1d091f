"""Reasons against sizes and for them: refusals, filters, quotas and guesses, in plain words."""
