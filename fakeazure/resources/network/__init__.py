"""`Microsoft.Network`: virtual networks, network interfaces, and what surrounds them."""
