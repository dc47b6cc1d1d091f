"""What would help pods that wait: changes that are tried in a world before they are told."""
