"""The memory cluster behind HTTP, for clients that speak to API servers: the `kubernetes` package, kubectl, our own mirror."""
