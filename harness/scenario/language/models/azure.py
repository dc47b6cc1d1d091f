"""`given.azure`, and the step `azure`: what Azure sells, is short of and charges."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from harness.scenario.language.models.base import (
    Duration,
    Integer,
    Model,
    Number,
    Text,
    Usd,
    no_entries,
    no_items,
    read_integer,
)
from harness.scenario.language.models.matchers import value_or_conditions

__all__ = [
    "Azure",
    "Capacity",
    "Fault",
    "Market",
    "Prices",
    "RegionChange",
    "Reservation",
    "Restriction",
    "SizeChange",
    "When",
    "Where",
]

Priority = Literal["on-demand", "spot"]
At = Literal["start", "end"]


class Restriction(Model):
    """Sizes that this subscription may not use: in the whole region, or in some zones. `*` and `?` are wildcards."""

    size: Text | None = Field(None, description="VM size or pattern, for example Standard_D*_v5; any when absent.")
    family: Text | None = Field(None, description="Family of sizes, for example standardDSv5Family; any when absent.")
    zones: list[Text] | None = Field(
        None, min_length=1, description="Zones it is closed in, 1 to 3; the whole region when absent."
    )
    reason: Literal["NotAvailableForSubscription", "QuotaId"] | None = Field(None, description="Azure's reason code.")


class Capacity(Model):
    """Stock that is short: how much is left for the launches that it describes. `*` and `?` are wildcards."""

    size: Text | None = Field(None, description="VM size or pattern; any when absent.")
    family: Text | None = Field(None, description="Family of sizes; any when absent.")
    zone: Text | None = Field(None, description="Zone, 1 to 3, or `regional`; any when absent.")
    priority: Priority | None = Field(None, description="Priority of the VM; any when absent.")
    vms: Integer | None = Field(None, description="VMs left; 0 is a dry zone.")
    cores: Integer | None = Field(None, description="vCPUs left, in place of `vms`.")
    error: Text | None = Field(
        None, description="Error code of a launch that finds nothing; Azure's choice when absent."
    )
    at: At | None = Field(
        None, description="Whether the call fails or the operation that it starts; `end` when absent."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.vms is None) == (self.cores is None):
            raise PydanticCustomError("one_of", "exactly one of vms, cores is expected")
        return self


class Prices(Model):
    """Prices of one size in USD per hour; `none` where the price list lacks it."""

    on_demand: Usd = Field(None, alias="on-demand", description="On demand.")
    spot: Usd = Field(None, description="Spot.")


PriceWord = Literal["live", "static"]


class ListedPrice(Model):
    """A row of Azure's retail price list, as the list has it: Karpenter takes one of several rows of a size, Azure bills the Linux one."""

    arm_sku_name: Text = Field(description="VM size.")
    product_name: Text = Field(description="Product, for example Virtual Machines Dasv5 Series.")
    sku_name: Text = Field(description="SKU; one that ends in Spot is a price on spot.")
    meter_name: Text = Field(description="Meter.")
    retail_price: Number = Field(description="USD per hour, of a reservation for the whole term.")
    arm_region_name: Text | None = Field(None, description="Region, by its short name; any when absent.")
    reservation_term: Text | None = Field(None, description="Term of a reservation, for example 1 Year.")
    savings_plan: list[dict[Text, Any]] | None = Field(None, description="Savings plans: term and retailPrice.")


def _form_of_price(value: Any) -> str:
    return "word" if value in ("live", "static") else value_or_conditions(value)


def _form_of_prices(value: Any) -> str:
    return "rows" if isinstance(value, list) else "conditions" if isinstance(value, dict) else "word"


SizePrice = Annotated[
    Annotated[Usd, Tag("value")] | Annotated[Prices, Tag("conditions")] | Annotated[PriceWord, Tag("word")],
    Discriminator(_form_of_price),
]
DeclaredPrices = Annotated[
    Annotated[dict[Text, SizePrice], Tag("conditions")]
    | Annotated[list[ListedPrice], Tag("rows")]
    | Annotated[PriceWord, Tag("word")],
    Discriminator(_form_of_prices),
]


class Where(Model):
    """The calls a fault is about: creations of virtual machines, unless `resource` and `method` say otherwise."""

    size: Text | None = Field(None, description="VM size or pattern.")
    family: Text | None = Field(None, description="Family of sizes.")
    zone: Text | None = Field(None, description="Zone, 1 to 3, or `regional`.")
    priority: Priority | None = Field(None, description="Priority of the VM.")
    name: Text | None = Field(None, description="Name of the resource.")
    resource: Text | None = Field(None, description="Type of the resource; virtualMachines when absent.")
    method: Literal["GET", "PUT", "POST", "PATCH", "DELETE"] | None = Field(None, description="PUT when absent.")


class When(Model):
    """From when on a fault happens."""

    skip: Integer | None = Field(None, description="Calls that pass before the first failure.")
    after: Duration | None = Field(None, description="Time from the start before which it does not happen.")
    until: Duration | None = Field(None, description="Time from the start after which it does not happen.")


def _times(value: Any) -> Any:
    return 0 if value == "always" else read_integer(value)


Times = Annotated[int, BeforeValidator(_times), WithJsonSchema({"anyOf": [{"const": "always"}, {"type": "integer"}]})]


class Fault(Model):
    """A failure of Azure, declared in advance. A fault that never happens fails the scenario."""

    what: Text = Field(
        description="Azure's error code, for example SkuNotAvailable, OverconstrainedZonalAllocationRequest, TooManyRequests; "
        "or `Stuck`: the operation never ends."
    )
    where: Where | None = Field(None, description="Which calls; every creation of a virtual machine when absent.")
    when: When | None = Field(None, description="From when on; at once when absent.")
    times: Times | None = Field(None, description="How often it happens: once when absent, or `always`.")
    at: At | None = Field(
        None, description="`start`: the call is refused; `end`: its long-running operation fails. `start` when absent."
    )
    message: Text | None = Field(None, description="The text of the error; Azure's own when absent.")
    status: Integer | None = Field(None, description="HTTP status; the usual one of the code when absent.")
    retry_after: Duration | None = Field(None, description="Retry-After of the answer.")


SpotDiscount = Annotated[
    Text | None,
    BeforeValidator(lambda value: None if value == "null" else value),
    WithJsonSchema({"type": ["string", "null"]}),
]


class Market(Model):
    """Azure's shortages and prices."""

    preset: Literal["restricted-2023"] | None = Field(
        None,
        description="A subscription's restrictions beside those given: `restricted-2023` closes, in all zones, the sizes that one "
        "was not offered in a region in 2023 (most of centralus, eastus2, germanywestcentral, japaneast, southeastasia); none when absent.",
    )
    quota: dict[Text, Integer] = Field(
        default_factory=no_entries,
        description="vCPU limits by usage name: cores, lowPriorityCores, or a family such as standardDSv5Family.",
    )
    restrictions: list[Restriction] = Field(
        default_factory=no_items,
        description="Sizes closed to the subscription. As a step, an empty list opens all of them.",
    )
    capacity: list[Capacity] = Field(
        default_factory=no_items,
        description="Stock that is short; everything else is plentiful. As a step, an empty list makes all of it so.",
    )
    prices: DeclaredPrices = Field(
        default_factory=no_entries,
        description="What Karpenter reads: `live`, Azure's price list; `static`, nothing, so that it goes by the table that it brings "
        "along; rows of the list, which replace those of their sizes; or prices by size, with `'*': static` for all others. "
        "`live` when absent.",
    )
    spot_discount: SpotDiscount = Field(
        None,
        description="What spot is supposed to cost less than on demand, for example 70%, in place of the list's prices on spot; "
        "prices by size stay as declared. As a step, null returns to the list's prices.",
    )
    faults: list[Fault] = Field(default_factory=no_items, description="Failures to happen.")
    images: (
        Annotated[
            Annotated[Literal["released"], Tag("value")] | Annotated[dict[Text, Text], Tag("conditions")],
            Discriminator(lambda value: "conditions" if isinstance(value, dict) else "value"),
        ]
        | None
    ) = Field(
        None,
        description="Versions of node images that are newer than those of 2025-12-18, by definition or the beginning of its name "
        "({'2404': 202601.13.0}); `released`: each comes out on its day, as AKS's release notes tell.",
    )
    kubelet: Text | None = Field(
        None,
        description="The version of kubelet that new machines run, whatever they are asked for; that one when absent.",
    )


class SizeChange(Model):
    """A size that is not as Azure sells it, or that Azure does not sell."""

    like: Text | None = Field(None, description="The size that it is made from; itself when absent.")
    family: Text | None = Field(None, description="Family of sizes, which quota counts.")
    zones: list[Text] | None = Field(None, description="Zones that offer it; none for a size that is regional only.")
    capabilities: dict[Text, Text | None] | None = Field(
        None,
        description="Capabilities by Azure's names, for example {MaxDataDiskCount: 4}; one that is null is taken away.",
    )
    price: Usd = Field(None, description="USD per hour on demand.")
    spot: Usd = Field(None, description="USD per hour on spot; the price on demand when absent.")
    regions: list[Text] | None = Field(
        None, min_length=1, description="Where it is sold so; in given.region when absent."
    )


class RegionChange(Model):
    """A region that is not as Azure has it, or that Azure does not have."""

    like: Text | None = Field(None, description="The region that it sells the sizes and has the prices of.")
    zones: list[Text] | None = Field(None, description="Its zones; those of the other when absent.")


class Reservation(Model):
    """VMs of one size that are reserved in one place: one that names the group has them whatever the stock, up to the quantity."""

    size: Text = Field(description="VM size.")
    zone: Text | None = Field(None, description="Zone, 1 to 3; a regional reservation when absent.")
    quantity: Integer = Field(description="How many VMs; their vCPUs count against quota from the start.")


class Azure(Market):
    """Azure's shortages, prices and sizes, and the day of its lists of sizes."""

    sizes: dict[Text, SizeChange] = Field(
        default_factory=no_entries, description="Sizes that are added or changed, by name."
    )
    regions: dict[Text, RegionChange] = Field(
        default_factory=no_entries, description="Regions that are added or changed, by short name."
    )
    reservations: dict[Text, list[Reservation]] = Field(
        default_factory=no_entries,
        description="Capacity reservations by the name of their group, in the cluster's resource group. No Karpenter uses them: they "
        "take quota.",
    )
    subnets: list[Text] = Field(
        default_factory=no_items,
        description="Ids of subnets that are there beside the cluster's own, for `vnetSubnetID` and the option vnet-subnet-id.",
    )

    as_of: Text | None = Field(
        None,
        description="Day of the lists of sizes and their capabilities, and of node images, for example 2025-06-02; that of the prices when "
        "absent.",
    )
