"""One module per op of the conformance protocol; the module's name is the op's."""
