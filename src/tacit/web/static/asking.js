// A page with one form and the answer below it: posts, images, a person, a release to check.

import { ask, job as jobOf, read } from "./api.js";
import { answer } from "./answer.js";
import { at, beginAt, copied, fill, make, problem } from "./dom.js";
import { begin } from "./frame.js";
import { shown } from "./progress.js";

/** The names of the files of these kinds in the folder. */
export async function filesOf(...kinds) {
  return (await read("/api/files")).filter((file) => kinds.includes(file.kind)).map((file) => file.name);
}

/** A select with a label; `options` are texts, or pairs of value and words. */
export function choice(words, options, chosen, note) {
  const pairs = options.map((each) => (Array.isArray(each) ? each : [each, each]));
  const select = make("select", {}, pairs.map(([value, said]) => make("option", { value, selected: value === chosen }, said)));
  return { element: make("label", {}, words, select, note && make("small", {}, note)), control: select };
}

/** A line of text with a label. */
export function line(words, value = "", note, facts = {}) {
  const input = make("input", { value, autocomplete: "off", ...facts });
  return { element: make("label", {}, words, input, note && make("small", {}, note)), control: input };
}

/** A box to tick. */
export function tick(words, ticked = false) {
  const input = make("input", { type: "checkbox", checked: ticked });
  return { element: make("label", { class: "inline-tick" }, input, words), control: input };
}

/** Fill the form of the page: fields side by side, and what to press. */
export function form(fields, pressed, submitted) {
  const buttons = pressed.map(([value, words]) => make("button", { type: "submit", value, class: value === pressed[0][0] ? "main" : null }, words));
  const place = at("ask");
  fill(place, make("div", { class: "fields-row" }, fields.map((field) => field.element)), make("div", { class: "row" }, buttons));
  place.onsubmit = (event) => {
    event.preventDefault();
    submitted(event.submitter?.value ?? pressed[0][0]);
  };
}

/** Show a job below the form, then its answer, with what `beside` puts above, in and below it, and so many sections `unfolded`. */
export async function show(job, beside = () => ({})) {
  const box = at("answer");
  const here = location.pathname;
  const pressed = box.contains(document.activeElement);
  history.replaceState({}, "", `${here}?job=${encodeURIComponent(job.id)}`);
  const done = job.state === "done" && job.result ? job : await shown(job, box, (next) => show(next, beside));
  if (!done) return;
  try {
    const same = done.command && make("details", { class: "other" }, make("summary", {}, "The same on the command line"), copied(done.command));
    const { above, middle, below, unfolded } = beside(done);
    const told = await answer(done.id, unfolded);
    // After the answer in short, before all that is behind it.
    if (middle) told.insertBefore(middle, told.querySelector("section"));
    fill(box, above, told, below, same);
    if (pressed) beginAt(box);
  } catch (error) {
    fill(box, problem(error));
  }
}

/** Say above the answer why something was not asked; what was told before stays. */
export function refuse(error) {
  const box = at("answer");
  box.querySelectorAll(":scope > .problem").forEach((each) => each.remove());
  box.prepend(problem(error));
  box.firstChild.scrollIntoView({ block: "center" });
}

/** Ask a verb, and show its job. */
export async function run(path, body, beside) {
  try {
    await show(await ask(path, body), beside);
  } catch (error) {
    refuse(error);
  }
}

/** Open the page: its form with what a job was asked, or with what the address says, and the job. */
export async function open(build, beside) {
  begin();
  const where = new URLSearchParams(location.search);
  try {
    const job = where.get("job") ? await jobOf(where.get("job")) : null;
    await build(job?.request ?? Object.fromEntries(where), job);
    if (job) await show(job, beside);
  } catch (error) {
    fill(at("answer"), problem(error));
  }
}
