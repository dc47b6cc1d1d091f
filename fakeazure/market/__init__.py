"""What can be had now: restrictions, quota arithmetic, stock, prices and declared faults, over what the catalogue sells."""
