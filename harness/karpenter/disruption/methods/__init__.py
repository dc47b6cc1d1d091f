"""The methods of disruption: emptiness, drift, and consolidation of one node or several."""
