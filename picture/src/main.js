// The page: its data is JSON in the document, its content is made here.
import "./style/base.css";
import "./style/corpus.css";
import { put } from "./dom.js";
import { corpus } from "./corpus.js";

const data = JSON.parse(document.getElementById("data").textContent);
const root = document.getElementById("page");

put(root, corpus(data));
