"""Requests of clients in this process to Azure: they reach a cloud in this process instead, and others are refused.

One patch per layer that clients share: `http.client` (urllib, urllib3, requests), httpcore (httpx), aiohttp's connector, and below all of
them the resolver and `connect` of sockets. Packages that answer HTTP for tests each know one client and none refuses the rest; here every
client keeps its own code down to the bytes that it sends.
"""
