// What an audit advises, as buttons with what each would do: one runs the audit again with one thing changed.

import { button, make } from "./dom.js";
import { withTrial } from "./trying.js";
import { atRisk, ofThousand, percent } from "./words.js";

function numbers({ found, guessed, kept }) {
  const said = [[found, ofThousand], [guessed, ofThousand], [kept, percent]];
  return said.map(([value, words]) => make("td", { class: "n" }, typeof value === "number" ? words(value) : "–"));
}

/**
 * Put the advice of an audit into its section, in the place of the lines for the command line; `look` asks for the audit
 * that follows one, `tried` is what was measured of those that were pressed before.
 */
export function advised(section, job, look, tried) {
  const advice = job.result.advice ?? [];
  if (!section || !advice.length) return;
  section.querySelectorAll(":scope > .scroll, :scope > p:not([class]):has(> code)").forEach((each) => each.remove());
  const lines = advice.map((each) => {
    const press = button(each.words, () => look({ source: job.request.source, ...each.settings }, each.words), { class: "plain" });
    return make("tr", {}, make("th", { scope: "row" }, withTrial(press, tried[each.words])), numbers(each));
  });
  const { found, guessed } = atRisk(job.result);
  const as = make("tr", {}, make("th", { scope: "row" }, "no change"), numbers({ found, guessed, kept: 1 }));
  const heads = ["Change", "Found", "Guessed", "Kept"].map((words, place) => make("th", { scope: "col", class: place ? "n" : null }, words));
  const unknown = advice.some(({ found, guessed, kept }) => [found, guessed, kept].some((each) => typeof each !== "number")) ? " –: not measured." : "";
  const caption = make("caption", {}, `Press one to examine the table again with that change; the file itself is not touched. Found and guessed: people in 1,000.${unknown}`);
  const table = make("table", { class: "advised" }, caption, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, as, lines));
  section.querySelector("h2, h3")?.after(...section.querySelectorAll(":scope > .warning"), table);
}
