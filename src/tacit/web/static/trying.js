// What was tried: what it did, whether it helped, and one click to undo it.

import { button, make } from "./dom.js";
import { atRisk, ofThousand, percent } from "./words.js";

// Fewer people than this in 1,000, or a smaller share of a column than this, is no change.
const PEOPLE = 0.5;
const SHARE = 0.01;

/** The words with what was measured when the same was tried before, if it was. */
export function withTrial(inside, told) {
  return told ? make("span", { class: "trial" }, inside, make("small", {}, `tried: ${told}`)) : inside;
}

function box(said, words, undo) {
  return make("div", { class: "effect" }, make("p", {}, make("b", {}, `${said}: `), words), button("Undo", undo, { class: "plain", "aria-label": `Undo: ${said}` }));
}

/** What a change did to the table that is examined: who could be found, and whose secret could be guessed. */
export function changedBy(change, before, after) {
  const [old, now] = [before, after].map((job) => atRisk(job.result));
  const people = `people in 1,000 who could be found ${ofThousand(old.found)} → ${ofThousand(now.found)}, whose secret could be guessed ${ofThousand(old.guessed)} → ${ofThousand(now.guessed)}.`;
  // To learn is to look again: the table is the same.
  if (after.request.estimator !== before.request.estimator) return box(change.said, "the answer above is the one that was learned; the table is the same.", change.undo);
  const helped = old.found - now.found >= PEOPLE || old.guessed - now.guessed >= PEOPLE;
  change.note(`found ${ofThousand(now.found)}, guessed ${ofThousand(now.guessed)}`);
  return box(change.said, helped ? people : `this did not help. ${people[0].toUpperCase()}${people.slice(1)}`, change.undo);
}

/** What was measured in short: of the column that was to be told, or of all. */
function outcome(before, old, rung, silent) {
  if (silent) return "still not shown";
  if (before.wanted) return `told, ${percent(new Map(rung.columns).get(before.wanted))} kept`;
  return `${percent(rung.kept)} of a column kept, ${percent(old.kept)} before`;
}

/** What the last change did to the trade-off, at the same epsilon; `silent`: the column that it was for is still not told. */
export function effect(before, rung, silent) {
  const old = before?.ladder.rungs.find((each) => each.epsilon === rung.epsilon);
  if (!old) return before ? box(before.said, "this epsilon was not tried before.", before.undo) : null;
  if (rung.epsilon === before.epsilon) before.note(outcome(before, old, rung, silent));
  const was = new Map(old.columns);
  const people = [
    ["people who could be found", old.found, rung.found],
    ["people whose secret could be guessed", old.guessed, rung.guessed],
  ].filter(([, one, other]) => Math.abs(one - other) >= PEOPLE);
  const kept = rung.columns.map(([name, share]) => [`kept of ${name}`, was.get(name) ?? 0, share]).filter(([, one, other]) => Math.abs(one - other) >= SHARE);
  const parts = [...people.map(([what, one, other]) => [what, ofThousand(one), ofThousand(other)]), ...kept.map(([what, one, other]) => [what, percent(one), percent(other)])];
  const told = parts.map(([what, one, other]) => `${what} ${one} → ${other}`).join("; ") || "hardly anything changes at this epsilon";
  const helped = silent ? `this did not help, ${before.wanted} is still not shown. Otherwise: ` : before.wanted ? `${before.wanted} is shown now. ` : "";
  return box(before.said, `${helped}${told}.`, before.undo);
}
