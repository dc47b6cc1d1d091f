"""One module per ARM resource type: its documents, its rules, its handlers."""
