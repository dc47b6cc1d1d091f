// Python and the project in a worker. Archives come from the page's own host; pydantic, which also searches patterns, comes when a command asks for it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const PACKAGES = "/lib/python3.14/site-packages";
let ready = null;

async function unpack(python, name) {
  const answer = await fetch(name);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  python.unpackArchive(await answer.arrayBuffer(), "xztar", { extractDir: PACKAGES });
}

async function start() {
  const python = await loadPyodide({ indexURL: "./pyodide/" });
  postMessage({ state: "Loading the simulation …" });
  await unpack(python, "project.tar.xz");
  python.runPython(await (await fetch("session.py")).text());
  return python;
}

function call(python, { command, files, picture }) {
  const answer = python.globals.get("answer");
  const given = python.toPy(files);
  try {
    return answer(command, given, Boolean(picture)).toJs();
  } finally {
    given.destroy();
    answer.destroy();
  }
}

async function run(message) {
  ready ??= start();
  const python = await ready;
  postMessage({ state: "Running …" });
  let [text, code, missing, picture] = call(python, message);
  if (missing) {
    postMessage({ state: "Loading what scenario files need …" });
    await unpack(python, "scenario.tar.xz");
    [text, code, missing, picture] = call(python, message);
  }
  return { text, code, picture };
}

let before = Promise.resolve();
onmessage = ({ data }) => {
  before = before
    .then(() => run(data))
    .then(postMessage, (error) => postMessage({ text: String(error), code: 70 }));
};
