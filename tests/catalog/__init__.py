"""What Azure sells, measured against what was recorded."""
