"""What speaks against sizes and for them: reasons, filters, quotas and guesses, in plain words."""
