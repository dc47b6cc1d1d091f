"""What all of Azure Resource Manager shares: ids, routing, versions, filters, paging, errors, long-running operations."""
