"""The machines of a cluster as simulations see them, and what each still has room for."""
