// The page: an editor, a command, an answer. Python runs in a worker (worker.js), so the page never waits.
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { NotShared, readState, writeState } from "./share.js";
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
);
at("example").onchange = () => {
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
