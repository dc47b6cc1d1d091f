"""Reasons why pods are where they are, or nowhere, and why nodes stay: the answers of `harness explain`."""
