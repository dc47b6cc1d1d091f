// Builds the static folder of the playground: node build.mjs FOLDER. tools/playground.py has put wheels and examples there.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadPyodide } from "pyodide";

const [folder] = process.argv.slice(2);
const here = import.meta.dirname;
const from = join(here, "node_modules", "pyodide");

for (const name of ["index.html", "page.css", "frame.html", "session.py"]) copyFileSync(join(here, "src", name), join(folder, name));
mkdirSync(join(folder, "pyodide"), { recursive: true });
for (const name of ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json", "python_stdlib.zip"]) {
  copyFileSync(join(from, name), join(folder, "pyodide", name));
}
await build({
  entryPoints: [join(here, "src", "page.js"), join(here, "src", "worker.js")],
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  external: ["./pyodide/pyodide.mjs"],
  legalComments: "linked",
  logLevel: "warning",
});

// The browser's Python compiles the packages here, once, so that no reader waits for it.
const python = await loadPyodide();
python.runPython(readFileSync(join(here, "archive.py"), "utf8"));
const archive = python.globals.get("archive");
for (const name of ["project", "scenario"]) {
  const wheels = join(folder, "wheels", name);
  python.FS.mkdirTree(`/wheels/${name}`);
  for (const wheel of readdirSync(wheels)) {
    python.FS.writeFile(`/wheels/${name}/${wheel}`, new Uint8Array(readFileSync(join(wheels, wheel))));
  }
  writeFileSync(join(folder, `${name}.tar.xz`), archive(`/wheels/${name}`).toJs());
}
rmSync(join(folder, "wheels"), { recursive: true });

// The list of all files for the worker that keeps them, with a version that changes when one of them does.
const files = readdirSync(folder, { recursive: true }).map((name) => name.replaceAll("\\", "/")).filter((name) => statSync(join(folder, name)).isFile() && name !== "offline.js").sort();
const version = createHash("sha256");
for (const name of files) version.update(name).update(readFileSync(join(folder, name)));
const worker = readFileSync(join(here, "src", "offline.js"), "utf8");
const values = `const VERSION = ${JSON.stringify(version.digest("hex").slice(0, 16))};\nconst FILES = ${JSON.stringify(["./", ...files])};\n`;
writeFileSync(join(folder, "offline.js"), values + worker);
