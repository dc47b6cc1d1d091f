"""What the provider keeps on an AKSNodeClass: its status and conditions, node images, and the maintenance window."""
