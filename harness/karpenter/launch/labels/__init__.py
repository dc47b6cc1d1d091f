"""Labels and taints of a new Node: which are asked for, by whom, and what a Node has in the end."""
