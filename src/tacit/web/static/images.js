// Images: what each patch says about a label.

import { ask, followed } from "./api.js";
import { choice, filesOf, form, line, open, run } from "./asking.js";
import { at, fill, make } from "./dom.js";
import { releaseBox, writtenStep } from "./release.js";

const SIZES = [["", "chosen by Tacit"], ...[4, 8, 16, 32].map((side) => [String(side), `${side} by ${side} pixels`])];

async function build(request) {
  const [images, tables] = [await filesOf("images"), await filesOf("table")];
  if (!images.length) {
    fill(at("ask"), make("p", {}, "There are no images in this folder. Drop an npz on the page ", make("a", { href: "/" }, "Files"), ", or copy a folder of PNG or JPEG files here, with a CSV of their labels."));
    return;
  }
  const source = choice("Images", images, request.source);
  const labels = choice("Labels", [["", "in the npz"], ...tables], request.labels ?? "", "For a folder: the CSV with a column of file names.");
  const secret = line("Label that must not be learned", [request.secret ?? []].flat().join(""), "A name, such as smile.", { required: true });
  const patch = choice("Patches", SIZES, String([request.patch ?? []].flat()[0] ?? ""));
  form([source, labels, secret, patch], [["audit", "Look at the images"]], () =>
    run("/api/audit", {
      source: source.control.value,
      secret: [secret.control.value.trim()],
      ...(labels.control.value ? { labels: labels.control.value } : {}),
      ...(patch.control.value ? { patch: [Number(patch.control.value)] } : {}),
    }, beside),
  );
  labels.control.addEventListener("change", () => suggest(labels.control.value, secret.control));
}

/** The labels that a table has, to choose from. */
async function suggest(table, input) {
  if (!table) return;
  const done = await followed((await ask("/api/columns", { source: table })).id, () => {});
  const list = make("datalist", { id: "labels" }, (done.result?.columns ?? []).map(({ name }) => make("option", { value: name })));
  document.getElementById("labels")?.remove();
  document.body.append(list);
  input.setAttribute("list", "labels");
}

function beside(job) {
  if (job.verb === "protect") return { above: writtenStep(job), unfolded: 2 };
  const ways = [
    ["code", "Codes, proved", "each image becomes one of a few mean pictures that many people share, and how often anybody can guess the label is proved. It takes a few hundred images."],
    ["noise", "Noise, an estimate", "patches that say more than epsilon get noise. How well adversaries who learned from such images still guess is measured, and nothing is certified."],
  ];
  // What patches say, the maps, and a few images.
  return { unfolded: 3, below: releaseBox(job, ways, ({ patch, ...request }) => run("/api/protect", { ...request, ...(patch && request.mechanism === "noise" ? { patch: patch[0] } : {}) }, beside)) };
}

open(build, beside);
