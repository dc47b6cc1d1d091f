"""`Microsoft.ResourceGraph`: its query language, and the rows that it is asked about."""
