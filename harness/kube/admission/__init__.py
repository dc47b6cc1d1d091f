"""What the API server fills in and refuses in core objects, and what it lets a kubelet write."""
