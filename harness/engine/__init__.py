"""What makes the parts move: one clock, one source of randomness, one queue, and the ports between them."""
