"""`Microsoft.Compute`: virtual machines with all that belongs to them, disks, scale sets, reservations."""
