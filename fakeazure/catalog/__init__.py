"""Azure's offer: sizes, their capabilities as SKU records, prices and zones per region.

`Catalogue.load().region("eastus")` is the way in; `importer` puts a user's own `az vm list-skus` in a region's place.
"""

from __future__ import annotations

from fakeazure.catalog.catalogue import Catalogue, RegionCatalogue
from fakeazure.catalog.errors import CatalogueError, UnknownRegion, UnknownSize
from fakeazure.catalog.records import Record

__all__ = ["Catalogue", "CatalogueError", "Record", "RegionCatalogue", "UnknownRegion", "UnknownSize"]
