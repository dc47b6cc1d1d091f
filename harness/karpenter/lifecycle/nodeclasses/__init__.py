"""The provider's controllers of an AKSNodeClass: its status and conditions, node images, and the maintenance window."""
