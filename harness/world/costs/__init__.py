"""What the machines of a world cost."""
