"""A cluster behind HTTP: its View is a mirror fed by watches, its Writers are requests. Only the standard library."""
