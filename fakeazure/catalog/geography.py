"""Names, geography and pairs of Azure's regions: the subscription's locations as karpenter-provider-azure keeps them for its tests
(kaz pkg/fake/locations.json of v1.14.0). Sweden South, which a subscription sees on request only, is missing there and has no coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from lazyrecords import dataclass

__all__ = ["Place", "place"]

# name, display name, geography group, geography, physical location, paired region, category, latitude, longitude
_ROWS = """
australiacentral|Australia Central|Asia Pacific|Australia|Canberra|australiacentral2|Other|-35.3075|149.1244
australiacentral2|Australia Central 2|Asia Pacific|Australia|Canberra|australiacentral|Other|-35.3075|149.1244
australiaeast|Australia East|Asia Pacific|Australia|New South Wales|australiasoutheast|Recommended|-33.86|151.2094
australiasoutheast|Australia Southeast|Asia Pacific|Australia|Victoria|australiaeast|Other|-37.8136|144.9631
austriaeast|Austria East|Europe|Austria|Vienna||Recommended|48.2092056|16.3727779
belgiumcentral|Belgium Central|Europe|Belgium|Brussels||Recommended|50.84553528|4.355707169
brazilsouth|Brazil South|South America|Brazil|Sao Paulo State|southcentralus|Recommended|-23.55|-46.633
brazilsoutheast|Brazil Southeast|South America|Brazil|Rio|brazilsouth|Other|-22.90278|-43.2075
canadacentral|Canada Central|Canada|Canada|Toronto|canadaeast|Recommended|43.653|-79.383
canadaeast|Canada East|Canada|Canada|Quebec|canadacentral|Other|46.817|-71.217
centralindia|Central India|Asia Pacific|India|Pune|southindia|Recommended|18.5822|73.9197
centralus|Central US|US|United States|Iowa|eastus2|Recommended|41.5908|-93.6208
chilecentral|Chile Central|South America|Chile|Santiago||Recommended|-33.447487|-70.673676
eastasia|East Asia|Asia Pacific|Asia Pacific|Hong Kong|southeastasia|Recommended|22.267|114.188
eastus|East US|US|United States|Virginia|westus|Recommended|37.3719|-79.8164
eastus2|East US 2|US|United States|Virginia|centralus|Other|36.6681|-78.3889
francecentral|France Central|Europe|France|Paris|francesouth|Recommended|46.3772|2.373
francesouth|France South|Europe|France|Marseille|francecentral|Other|43.8345|2.1972
germanynorth|Germany North|Europe|Germany|Berlin|germanywestcentral|Other|53.073635|8.806422
germanywestcentral|Germany West Central|Europe|Germany|Frankfurt|germanynorth|Recommended|50.110924|8.682127
indonesiacentral|Indonesia Central|Asia Pacific|Indonesia|Jakarta||Recommended|-6.2|106.816666
israelcentral|Israel Central|Middle East|Israel|Israel||Recommended|31.2655698|33.4506633
italynorth|Italy North|Europe|Italy|Milan||Recommended|45.46888|9.18109
japaneast|Japan East|Asia Pacific|Japan|Tokyo, Saitama|japanwest|Recommended|35.68|139.77
japanwest|Japan West|Asia Pacific|Japan|Osaka|japaneast|Recommended|34.6939|135.5022
jioindiacentral|Jio India Central|Asia Pacific|India|Nagpur|jioindiawest|Other|21.146633|79.08886
jioindiawest|Jio India West|Asia Pacific|India|Jamnagar|jioindiacentral|Other|22.470701|70.05773
koreacentral|Korea Central|Asia Pacific|Korea|Seoul|koreasouth|Recommended|37.5665|126.978
koreasouth|Korea South|Asia Pacific|Korea|Busan|koreacentral|Other|35.1796|129.0756
malaysiawest|Malaysia West|Asia Pacific|Malaysia|Kuala Lumpur||Recommended|3.140853|101.693207
mexicocentral|Mexico Central|Mexico|Mexico|Querétaro State||Recommended|20.588818|-100.389888
newzealandnorth|New Zealand North|Asia Pacific|New Zealand|Auckland||Recommended|-36.84853|174.76349
northcentralus|North Central US|US|United States|Illinois|southcentralus|Other|41.8819|-87.6278
northeurope|North Europe|Europe|Europe|Ireland|westeurope|Recommended|53.3478|-6.2597
norwayeast|Norway East|Europe|Norway|Norway|norwaywest|Recommended|59.913868|10.752245
norwaywest|Norway West|Europe|Norway|Norway|norwayeast|Other|58.969975|5.733107
polandcentral|Poland Central|Europe|Poland|Warsaw||Recommended|52.23334|21.01666
qatarcentral|Qatar Central|Middle East|Qatar|Doha||Recommended|25.551462|51.439327
southafricanorth|South Africa North|Africa|South Africa|Johannesburg|southafricawest|Recommended|-25.73134|28.21837
southafricawest|South Africa West|Africa|South Africa|Cape Town|southafricanorth|Other|-34.075691|18.843266
southcentralus|South Central US|US|United States|Texas|northcentralus|Other|29.4167|-98.5
southeastasia|Southeast Asia|Asia Pacific|Asia Pacific|Singapore|eastasia|Recommended|1.283|103.833
southindia|South India|Asia Pacific|India|Chennai|centralindia|Other|12.9822|80.1636
spaincentral|Spain Central|Europe|Spain|Madrid||Recommended|40.4259|3.4209
swedencentral|Sweden Central|Europe|Sweden|Gävle|swedensouth|Recommended|60.67488|17.14127
swedensouth|Sweden South|Europe|Sweden||swedencentral|Other||
switzerlandnorth|Switzerland North|Europe|Switzerland|Zurich|switzerlandwest|Recommended|47.451542|8.564572
switzerlandwest|Switzerland West|Europe|Switzerland|Geneva|switzerlandnorth|Other|46.204391|6.143158
uaecentral|UAE Central|Middle East|UAE|Abu Dhabi|uaenorth|Other|24.466667|54.366669
uaenorth|UAE North|Middle East|UAE|Dubai|uaecentral|Recommended|25.266666|55.316666
uksouth|UK South|UK|United Kingdom|London|ukwest|Recommended|50.941|-0.799
ukwest|UK West|UK|United Kingdom|Cardiff|uksouth|Other|53.427|-3.084
westcentralus|West Central US|US|United States|Wyoming|westus2|Other|40.89|-110.234
westeurope|West Europe|Europe|Europe|Netherlands|northeurope|Recommended|52.3667|4.9
westindia|West India|Asia Pacific|India|Mumbai|southindia|Other|19.088|72.868
westus|West US|US|United States|California|eastus|Other|37.783|-122.417
westus2|West US 2|US|United States|Washington|westcentralus|Recommended|47.233|-119.852
westus3|West US 3|US|United States|Phoenix|eastus|Other|33.448376|-112.074036
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A region for people to read; coordinates in degrees, as ARM writes them, empty where they are not recorded."""

    display_name: str
    group: str
    geography: str
    physical_location: str
    paired_region: str
    category: str
    latitude: str
    longitude: str


@cache
def _places() -> Mapping[str, Place]:
    rows = (row.split("|") for row in _ROWS.split("\n") if row)
    return {name: Place(*values) for name, *values in rows}


def place(region: str) -> Place | None:
    """Return what ARM says about a region; None for one that is not Azure's, as a test's own catalogue may have."""
    return _places().get(region)
