"""Warnings: manifests that an API server and Karpenter take, and that hardly do what somebody means by them."""
