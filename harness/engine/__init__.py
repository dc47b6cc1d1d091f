"""The engine: one clock, one source of randomness, one queue, and the ports between controllers."""
