"""The truth of the simulation on a user's own cluster: each fact of its Nodes and NodeClaims beside what is computed here."""
