"""The requests to Azure for one NodeClaim: bodies, names and tags."""
