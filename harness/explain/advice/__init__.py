"""Changes that would help pods that wait, tried in a world before they are told."""
