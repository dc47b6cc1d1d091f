"""The common part of Azure Resource Manager: ids, routing, versions, filters, paging, errors, long-running operations."""
