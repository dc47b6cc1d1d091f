"""Commands of the disruption controller: what they are made of, and whether they still hold."""
