// Worlds of a long run lie in the page compressed; the one that is asked for is unpacked.

/** A world by its number, of packs as harness/reports/picture/packing.py writes them. */
export async function unpacked({ packs, each }, number) {
  const bytes = Uint8Array.from(atob(packs[Math.floor(number / each)]), (one) => one.charCodeAt(0));
  const { lists, columns } = JSON.parse(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text());
  const found = Object.fromEntries(Object.entries(columns).map(([key, values]) => [key, values[number % each]]));
  return { ...found, sizes: Object.fromEntries(Object.entries(found.sizes).map(([name, place]) => [name, lists[place]])) };
}
