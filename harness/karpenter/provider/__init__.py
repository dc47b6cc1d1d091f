"""The cloud provider: drives the launch of NodeClaims through Azure's API, and what becomes of the machines."""
