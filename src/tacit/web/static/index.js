// The first page: drop or choose a file, or go on with one that is here.

import { Refusal, read, sent } from "./api.js";
import { at, fill, make, problem, say } from "./dom.js";
import { begin } from "./frame.js";
import { percent, size } from "./words.js";

const DOES = {
  table: [["/table?source=", "Look at it"]],
  images: [["/images?source=", "Look at the images"]],
  case: [["/person?case=", "How much is out?"]],
  release: [["/check?release=", "Check it"]],
};
const KINDS = { table: "table", images: "images", case: "a person's case", release: "release", other: "other" };

function line(file) {
  const ways = (DOES[file.kind] ?? []).map(([where, words]) =>
    make("a", { class: "button plain", href: where + encodeURIComponent(file.name), "aria-label": `${words}: ${file.name}` }, words),
  );
  const changed = new Date(file.modified * 1000).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, file.name),
    make("td", {}, KINDS[file.kind] ?? file.kind),
    make("td", { class: "n" }, size(file.size)),
    make("td", { class: "n" }, changed),
    make("td", { class: "n" }, ways),
  );
}

async function list() {
  const box = at("files");
  try {
    const files = (await read("/api/files")).filter((file) => file.kind !== "other");
    const heads = ["Name", "Kind", "Size", "Changed"].map((name, place) => make("th", { scope: "col", class: place > 1 ? "n" : null }, name));
    const table = make(
      "table",
      { class: "files" },
      make("caption", { class: "unseen" }, "Files in this folder"),
      make("thead", {}, make("tr", {}, heads, make("td", {}, make("span", { class: "unseen" }, "What to do")))),
      make("tbody", {}, files.map(line)),
    );
    fill(box, files.length ? make("div", { class: "scroll" }, table) : make("p", { class: "quiet" }, "There is no file here yet that Tacit can read."));
  } catch (error) {
    fill(box, problem(error));
  }
  box.removeAttribute("aria-busy");
}

async function take(file) {
  const sending = at("sending");
  const meter = make("progress", { max: "1", "aria-label": `Copying ${file.name}` });
  const words = make("span", { class: "note" }, `copying ${file.name}`);
  fill(at("refused"));
  fill(sending, meter, words);
  sending.hidden = false;
  say(`copying ${file.name}`);
  try {
    const { name } = await sent(file, (share) => {
      if (share === null) return;
      meter.value = share;
      words.textContent = `copying ${file.name}: ${percent(share)}`;
    });
    const here = (await read("/api/files")).find((each) => each.name === name);
    const way = DOES[here?.kind]?.[0][0];
    if (!way) throw new Refusal(`${name} was copied, but Tacit cannot read this kind of file.`);
    location.assign(way + encodeURIComponent(name));
  } catch (error) {
    fill(at("refused"), problem(error));
    sending.hidden = true;
  }
}

function listen() {
  const drop = at("drop");
  at("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
  drop.addEventListener("submit", (event) => event.preventDefault());
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", (event) => drop.contains(event.relatedTarget) || drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  // A file dropped outside the box would make the browser leave this page and open it.
  for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
}

begin();
listen();
list();
