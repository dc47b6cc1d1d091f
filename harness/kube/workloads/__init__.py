"""The decisions of the controllers of workloads: what to create, change and delete, as pure functions of objects."""
