"""Stories of workloads: made by chance, told on the real control plane and in memory, and compared fact by fact."""
