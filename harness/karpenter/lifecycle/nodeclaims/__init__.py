"""NodeClaims from creation to garbage collection: launch, registration, initialization, liveness, expiration."""
