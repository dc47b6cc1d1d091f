"""The objects of a cluster, drawn for the op `schedule`: one module per kind of object."""
