"""NodeClaims in the making: NodePools as templates, which pods can join which NodeClaim, and what is made in the end."""
