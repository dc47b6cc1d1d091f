"""Running a case: its world, its steps, and what its expectations find."""
