"""What is sent to Azure for one NodeClaim: bodies, names and tags."""
