// The release: what will be written, then what was.

import { make, problem } from "./dom.js";
import { LEAST } from "./tradeoff.js";
import { promise } from "./words.js";

function nameAfter(source) {
  return `${String(source).split("/").at(-1).replace(/\.[^.]*$/, "")}-release`;
}

function files(ending) {
  return [
    [`data${ending}`, "the table, with less in it: what you pass on"],
    ["certificate.json", "what is promised, and how to check it"],
    ["levels.json", "the dictionary: what the ranges and groups in the table stand for"],
    ["report.html", "the certificate in words, for readers"],
    ["private/", "for you only; it is not in the download"],
  ];
}

/** The fourth step, before: what will be written, with the ending of the table's file, and a name for it. */
export function releaseStep(request, ending, start) {
  const name = make("input", { id: "out", required: true, value: nameAfter(request.source), autocomplete: "off" });
  const refused = make("div");
  const write = async (event) => {
    event.preventDefault();
    if (name.value.trim()) await start("protect", { ...request, out: name.value.trim() });
    else refused.replaceChildren(problem({ message: "The release needs a name." }));
  };
  return make(
    "form",
    { class: "write", onsubmit: write },
    make("h2", {}, "What will be written"),
    make("p", { class: "claim" }, promise(request.epsilon ?? request.epsilon_high, request), make("small", {}, `And at least ${request.least ?? LEAST} people share every row.`)),
    make("dl", { class: "fields" }, files(ending).map(([file, words]) => make("div", {}, make("dt", {}, make("code", {}, file)), make("dd", {}, words)))),
    make("p", {}, make("label", { for: "out" }, "Name of the release "), name, make("small", {}, "A folder of this name appears next to your file, whole or not at all. Your file is not changed.")),
    refused,
    make("button", { class: "main", type: "submit" }, "Write the release"),
  );
}

/** A release of images or posts, asked for below their audit; `write` is given its request. */
export function releaseBox(job, ways, write) {
  const how = make("select", { id: "how" }, ...ways.map(([value, label]) => make("option", { value }, label)));
  const epsilon = make("input", { id: "bound", type: "number", min: "0", max: "100", step: "any", value: "0.5", required: true });
  const name = make("input", { id: "out", required: true, value: nameAfter(job.request.source), autocomplete: "off" });
  const asked = (event) => {
    event.preventDefault();
    const { save_model: _, ...question } = job.request;
    write({ ...question, mechanism: how.value, epsilon: Number(epsilon.value), out: name.value.trim() });
  };
  return make(
    "section",
    { "aria-labelledby": "release" },
    make("h2", { id: "release" }, "Make a version that says less"),
    ...ways.map(([, label, words]) => make("p", {}, make("strong", {}, `${label}: `), words)),
    make("form", { class: "row", onsubmit: asked }, make("label", {}, "How ", how), make("label", {}, "Epsilon ", epsilon), make("label", {}, "Name of the release ", name), make("button", { type: "submit" }, "Write the release")),
  );
}

/** The fourth step, after: the download. The certificate in words follows, as the report has it. */
export function writtenStep(job) {
  const out = job.request.out;
  return make(
    "section",
    { class: "written" },
    make("h2", {}, "The release is written"),
    make("p", {}, make("a", { class: "button main", href: `/api/files/${out.split("/").map(encodeURIComponent).join("/")}`, download: `${out.split("/").at(-1)}.zip` }, "Download the release (zip)")),
    make("p", {}, "Whoever signs it off can ", make("a", { href: `/check?release=${encodeURIComponent(out)}&against=${encodeURIComponent(job.request.source)}` }, "check it and try to break it"), "."),
    make("p", { class: "note" }, "Pass the whole zip on. What only you may see is in the folder ", make("code", {}, `${out}/private`), ", and not in the zip."),
  );
}
