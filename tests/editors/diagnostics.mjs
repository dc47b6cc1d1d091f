// Asks a YAML language server for its diagnostics: node ls.mjs SERVER SCHEMA FILE... ; prints JSON, file by file.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [server, schema, ...files] = process.argv.slice(2);
const child = spawn(process.execPath, [server, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
let buffer = Buffer.alloc(0), next = 1;
const waiting = new Map(), diagnostics = new Map();
const send = (message) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
  child.stdin.write(body);
};
const ask = (method, params) => new Promise((done) => { waiting.set(next, done); send({ id: next++, method, params }); });
const settings = { yaml: { schemas: { [pathToFileURL(resolve(schema)).href]: ["*.yaml"] }, schemaStore: { enable: false }, kubernetesCRDStore: { enable: false }, validate: true }, http: {} };
child.stdout.on("data", (part) => {
  buffer = Buffer.concat([buffer, part]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    if (message.method === "workspace/configuration") send({ id: message.id, result: message.params.items.map((item) => settings[item.section] ?? null) });
    else if (message.method === "textDocument/publishDiagnostics") { diagnostics.set(message.params.uri, message.params.diagnostics); check(); }
    else if (message.method && message.id !== undefined) send({ id: message.id, result: null });
    else if (waiting.has(message.id)) { waiting.get(message.id)(message.result); waiting.delete(message.id); }
  }
});
const uris = files.map((file) => pathToFileURL(resolve(file)).href);
function check() {
  if (!uris.every((uri) => diagnostics.has(uri))) return;
  const found = files.map((file, number) => [file, diagnostics.get(uris[number]).map(({ range, message }) => ({ line: range.start.line + 1, column: range.start.character + 1, message }))]);
  process.stdout.write(JSON.stringify(Object.fromEntries(found)));
  child.kill();
  process.exit(0);
}
await ask("initialize", { processId: process.pid, rootUri: pathToFileURL(resolve(".")).href, capabilities: { workspace: { configuration: true }, textDocument: { publishDiagnostics: {} } }, workspaceFolders: [] });
send({ method: "initialized", params: {} });
send({ method: "workspace/didChangeConfiguration", params: { settings } });
setTimeout(() => { for (const [number, file] of files.entries()) send({ method: "textDocument/didOpen", params: { textDocument: { uri: uris[number], languageId: "yaml", version: 1, text: readFileSync(file, "utf8") } } }); }, 500);
