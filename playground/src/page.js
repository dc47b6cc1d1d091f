// The page: an editor, a command, an answer. Python runs in a worker (worker.js), so the page never waits.
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { LIMITS, isName, NotShared, readState, writeState } from "./share.js";
import { optionOf, withOption } from "./command.js";

const at = (id) => document.getElementById(id);
const state = { files: {}, shown: "", command: "" };

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "light-dark(#2f4fb5, #8ba6ff)" },
  { tag: [tags.string, tags.content], color: "light-dark(#20662f, #8fd39b)" },
  { tag: tags.comment, color: "light-dark(#5b616e, #9aa1ad)" },
  { tag: [tags.punctuation, tags.separator, tags.bracket, tags.squareBracket], color: "light-dark(#5b616e, #9aa1ad)" },
]);
const looks = EditorView.theme({
  "&": { backgroundColor: "var(--paper)", color: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--soft)", color: "var(--dim)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "light-dark(#f0f3fa, #1f2330)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
});
const named = new Compartment();
const editor = new EditorView({
  parent: at("editor"),
  state: EditorState.create({
    doc: "",
    extensions: [
      keymap.of([{ key: "Mod-Enter", run: () => (ask(), true) }]),
      basicSetup,
      yaml(),
      syntaxHighlighting(colours),
      looks,
      EditorView.updateListener.of((update) => {
        if (update.docChanged) state.files[state.shown] = update.state.doc.toString();
      }),
      named.of(EditorView.contentAttributes.of({ "aria-label": "Manifests" })),
    ],
  }),
});

function show(name) {
  state.shown = name;
  at("name").value = name;
  at("remove").disabled = Object.keys(state.files).length < 2;
  editor.dispatch({
    changes: { from: 0, to: editor.state.doc.length, insert: state.files[name] ?? "" },
    effects: named.reconfigure(EditorView.contentAttributes.of({ "aria-label": name })),
  });
  at("files").replaceChildren(
    ...Object.keys(state.files).map((file) => {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.textContent = file;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(file === name));
      tab.onclick = () => show(file);
      return tab;
    }),
  );
}

function fill(files, command, commands = []) {
  state.files = { ...files };
  at("command").value = command;
  at("commands").replaceChildren(...commands.map((value) => Object.assign(document.createElement("option"), { value })));
  readOptions();
  show(Object.keys(files)[0] ?? "world.yaml");
}

/** Adds files of the reader; one of the same name takes the place of the old one. */
function add(files) {
  const names = Object.keys(files);
  const wrong = names.find((name) => !isName(name));
  if (wrong !== undefined) return say(`${wrong} is no name that a file can have: letters, digits, dots, - and _.`, true);
  if (new Set([...Object.keys(state.files), ...names]).size > LIMITS.files) return say(`These are more than ${LIMITS.files} files.`, true);
  Object.assign(state.files, files);
  show(names.at(-1));
  say(`${names.join(", ")}: name ${names.length === 1 ? "it" : "them"} in the command, then Run.`);
}

const empty = () => {
  let number = 1;
  while (`file-${number}.yaml` in state.files) number += 1;
  return `file-${number}.yaml`;
};

async function opened(files) {
  const large = files.find((file) => file.size > LIMITS.unpacked);
  if (large) return say(`${large.name} has more than ${LIMITS.unpacked / 1024 ** 2} MiB: too much for this page, not for the command line.`, true);
  if (files.length) add(Object.fromEntries(await Promise.all(files.map(async (file) => [file.name.replaceAll(" ", "-"), await file.text()]))));
}

at("new").onclick = () => {
  add({ [empty()]: "" });
  editor.focus();
};
at("open").onclick = () => at("chosen").click();
at("chosen").onchange = async () => {
  await opened([...at("chosen").files]);
  at("chosen").value = "";
};
addEventListener("dragover", (event) => event.preventDefault(), true);
addEventListener("drop", (event) => {
  if (!event.dataTransfer?.files.length) return;
  event.preventDefault();
  event.stopPropagation(); // the editor would paste their text
  opened([...event.dataTransfer.files]);
}, true);
at("name").onchange = () => {
  const name = at("name").value;
  if (name === state.shown) return;
  if (!isName(name) || name in state.files) {
    say(name in state.files ? `There is a file ${name} already.` : `${name} is no name that a file can have: letters, digits, dots, - and _.`, true);
    at("name").value = state.shown;
    return;
  }
  state.files = Object.fromEntries(Object.entries(state.files).map(([file, text]) => [file === state.shown ? name : file, text]));
  show(name);
  say(`${name}: name it in the command, then Run.`);
};
at("remove").onclick = () => {
  const index = Object.keys(state.files).indexOf(state.shown);
  delete state.files[state.shown];
  show(Object.keys(state.files)[Math.max(0, index - 1)]);
};

/** Shows in the two selections what the command says; the command is the truth. */
function readOptions() {
  for (const name of ["release", "region"]) at(name).value = optionOf(at("command").value, name) ?? "";
}

function say(text, bad = false) {
  at("status").textContent = text;
  at("status").className = bad ? "bad" : "";
}

/** Text, or the picture of the same command; the picture is made when somebody wants to see it. */
let wanted = "text";
function choose(form) {
  wanted = form;
  at("as-text").setAttribute("aria-selected", String(form === "text"));
  at("as-picture").setAttribute("aria-selected", String(form === "picture"));
  at("answer").hidden = form !== "text";
  at("picture").hidden = form !== "picture";
}
at("as-text").onclick = () => choose("text");
at("as-picture").onclick = () => {
  choose("picture");
  ask();
};

function draw(html) {
  const frame = document.createElement("iframe");
  frame.title = "Picture of what happened";
  frame.setAttribute("sandbox", "allow-scripts");
  addEventListener("message", function ready({ source, data }) {
    if (source !== frame.contentWindow || data !== "ready") return;
    removeEventListener("message", ready);
    frame.contentWindow.postMessage(html, "*");
    at("picture").dataset.drawn = String(Number(at("picture").dataset.drawn ?? 0) + 1);
  });
  frame.src = "frame.html";
  at("picture").replaceChildren(frame);
}

let worker = null;
let started = false;
let asked = 0;

function running(yes) {
  at("run").disabled = yes;
  at("stop").disabled = !yes;
}

function ask() {
  if (at("run").disabled) return;
  worker ??= newWorker();
  running(true);
  asked = performance.now();
  say(started ? "Running …" : "Loading Python and the simulation …");
  worker.postMessage({ command: at("command").value, files: state.files, picture: wanted === "picture" });
}

/** Python cannot be interrupted from outside: Stop ends its worker, and the next Run starts another. */
at("stop").onclick = () => {
  worker?.terminate();
  worker = null;
  started = false;
  running(false);
  at("answer").textContent = "";
  say("Stopped. Run loads Python anew.");
};

function newWorker() {
  const made = new Worker("worker.js", { type: "module" });
  made.onmessage = ({ data }) => answered(data);
  made.onerror = (event) => {
    running(false);
    say(`The worker stopped: ${event.message}`, true);
  };
  return made;
}

function answered(data) {
  if (data.state) return say(data.state);
  started = true;
  running(false);
  at("answer").textContent = data.text;
  if (data.picture) draw(data.picture);
  else if (wanted === "picture") choose("text"); // this command has none, or it ended with a mistake
  at("answer").dataset.answered = String(Number(at("answer").dataset.answered ?? 0) + 1);
  const seconds = ((performance.now() - asked) / 1000).toFixed(1);
  say(`Exit code ${data.code}, after ${seconds} s.`, data.code !== 0);
}

function options(select, first, values) {
  select.replaceChildren(
    Object.assign(document.createElement("option"), { value: "", textContent: first }),
    ...values.map((value) => Object.assign(document.createElement("option"), { value, textContent: value })),
  );
}

const { examples, releases, regions, release, region } = await (await fetch("examples.json")).json();
options(at("release"), `${release}, unless given`, releases);
options(at("region"), `${region}, unless given`, regions);
at("example").replaceChildren(
  ...examples.map(({ title }, value) => Object.assign(document.createElement("option"), { value, textContent: title })),
  Object.assign(document.createElement("option"), { value: "own", textContent: "Your own files" }),
);
at("example").onchange = () => {
  if (at("example").value === "own") {
    fill({ "file-1.yaml": "" }, "explain file-1.yaml", ["explain file-1.yaml", "simulate file-1.yaml", "validate file-1.yaml"]);
    say("Paste NodePools, AKSNodeClasses, pods and workloads here, or open files. Then Run.");
    editor.focus();
    return;
  }
  const { files, commands } = examples[at("example").value];
  fill(files, commands[0], commands);
  ask();
};
for (const name of ["release", "region"]) {
  at(name).onchange = () => {
    at("command").value = withOption(at("command").value, name, at(name).value);
    ask();
  };
}
at("command").onchange = readOptions;
at("form").onsubmit = (event) => {
  event.preventDefault();
  ask();
};
at("share").onclick = async () => {
  let hash;
  try {
    hash = await writeState({ files: state.files, command: at("command").value });
  } catch (error) {
    if (!(error instanceof NotShared)) throw error;
    return say(`This is too much for a link. ${error.message}`, true);
  }
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied: it holds the files and the command.");
  } catch {
    say("The link is in the address bar: it holds the files and the command.");
  }
};

/** Shows what the address holds. What somebody else wrote runs only when the reader says so; the first question is our own. */
async function open() {
  try {
    const shared = await readState(location.hash);
    if (shared) {
      at("example").selectedIndex = -1;
      fill(shared.files, shared.command);
      say("This link brought files and a command. Run starts it.");
      return;
    }
  } catch (error) {
    fill(examples[0].files, examples[0].commands[0], examples[0].commands);
    const why = error instanceof NotShared ? error.message : "It is not whole: its files cannot be read.";
    say(`The link cannot be used. ${why} This is the first question.`, true);
    return;
  }
  fill(examples[0].files, examples[0].commands[0], examples[0].commands);
  ask();
}
await open();
addEventListener("hashchange", open);

/** A worker of the browser keeps the page's files; where there is none (no HTTPS, a private window) the page is as before. */
navigator.serviceWorker?.register("offline.js").then(
  () => navigator.serviceWorker.ready.then(() => (at("offline").hidden = false)),
  () => {},
);
