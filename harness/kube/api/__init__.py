"""Parts that all objects of the API share: kinds, names, metadata, quantities, selectors, patches, field errors and statuses."""
