"""Label keys: what releases do with them, found out by trying, beside what the design documents say."""
