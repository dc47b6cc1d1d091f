"""kind node images as testcontainers: a real cluster in one container, further nodes that join with the labels they are given."""
