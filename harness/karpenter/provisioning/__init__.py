"""From pending pods to NodeClaims: batches, simulation, creation, and the detection of runaways."""
