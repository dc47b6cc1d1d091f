// Bundles src/ into the two files that Python puts into a page, with the licences of what is bundled and the hash of the sources.
// `node build.mjs FOLDER` writes elsewhere, so that the result can be compared with the committed one.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../harness/reports/picture/built");
const LIMIT = 700_000; // bytes of script, style and licences together
mkdirSync(out, { recursive: true });

const result = await build({
  absWorkingDir: here,
  entryPoints: { picture: "src/main.js" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  legalComments: "none", // all of them are in LICENSES.txt
  charset: "ascii",
  metafile: true,
  logLevel: "warning",
});

const packages = new Set();
for (const name of Object.keys(result.metafile.inputs)) {
  const found = name.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//);
  if (found) packages.add(found[1]);
}
const licences = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = ["LICENSE", "LICENSE.md", "LICENSE.txt"].map((one) => join(folder, one)).find(existsSync);
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(file, "utf8").trim()}\n`;
});
writeFileSync(join(out, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));

// The same sum is made by tests/reports/test_picture.py, which needs no Node.
const sources = (folder) =>
  readdirSync(join(here, folder)).sort().flatMap((name) => {
    const path = `${folder}/${name}`;
    return statSync(join(here, path)).isDirectory() ? sources(path) : [path];
  });
const all = ["build.mjs", "package-lock.json", "package.json", ...sources("src")].sort();
const sums = all.map((name) => `${createHash("sha256").update(readFileSync(join(here, name))).digest("hex")}  ${name}\n`);
const made = ["picture.js", "picture.css", "LICENSES.txt"].map(
  (name) => `${createHash("sha256").update(readFileSync(join(out, name))).digest("hex")}  built/${name}\n`,
);
writeFileSync(join(out, "SHA256SUMS"), [...sums, ...made].join(""));

const bytes = ["picture.js", "picture.css", "LICENSES.txt"].reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
console.log(`${bytes} bytes of at most ${LIMIT}`);
if (bytes > LIMIT) process.exit(1);
