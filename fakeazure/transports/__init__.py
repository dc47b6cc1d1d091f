"""Ways to reach the cloud: in process under `requests`, HTTP, HTTPS with a managed-identity endpoint. One wire form for all."""
