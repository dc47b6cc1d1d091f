"""The cloud provider: drives the launch of NodeClaims through Azure's API, and follows the machines until they run or have failed."""
