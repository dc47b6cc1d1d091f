"""Running a case: its world, its steps, and the verdicts of its expectations."""
