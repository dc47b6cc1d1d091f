"""From pending pods to NodeClaims: batches, simulation, creation, and the watch for runaways."""
