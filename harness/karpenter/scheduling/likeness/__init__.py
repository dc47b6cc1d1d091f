"""Simulations that differ in the names of pods alone: one is worked out, and the others have its outcome."""
