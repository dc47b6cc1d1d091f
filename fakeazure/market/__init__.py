"""The present market: restrictions, quota arithmetic, stock, prices and declared faults, over the catalogue."""
