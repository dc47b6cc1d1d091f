"""Rules about the pods of a node that goes, one module each: a pod may move, does not count, is waited for, or keeps its node."""
