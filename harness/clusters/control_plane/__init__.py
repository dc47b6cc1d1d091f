"""Parts that real API servers share, wherever they run: certificates, definitions of Karpenter's kinds, audit log, ports."""
