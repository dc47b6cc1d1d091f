"""The events of the disruption controller: their texts, the objects they are about, and their deduplication."""
