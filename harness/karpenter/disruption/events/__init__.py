"""The events of the disruption controller: their texts, whom they are about, and which of them are hidden."""
