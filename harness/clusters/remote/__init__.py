"""A cluster elsewhere as a world uses it: cleared for it, in its virtual time, waited for until it rests."""
