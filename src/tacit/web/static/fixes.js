// One click for a column: tell the month instead of the day, or leave it out. Then what it changed.

import { button, make } from "./dom.js";
import { named, ofThousand, percent } from "./words.js";

const UNITS = ["hour", "day", "week", "month", "quarter", "year"];
const MOST = 3;

/** The setting for a level as the columns name it: month, by 5, 3 characters; null for one that has none. */
function wish(level) {
  const [, step] = /^by ([\d.,]+)$/.exec(level) ?? [];
  const [, length] = /^(\d+) characters?$/.exec(level) ?? [];
  if (step) return Number(step.replaceAll(",", ""));
  if (length) return `prefix:${length}`;
  return UNITS.includes(level) ? level : null;
}

function phrase(level) {
  const length = /^(\d+) characters?$/.exec(level)?.[1];
  if (length) return length === "1" ? "first character" : `first ${length} characters`;
  return level.startsWith("by ") ? level : `by ${level}`;
}

/** The request with one column told at another level; null leaves it out, undefined tells it as it was. */
function changed(request, name, level) {
  const { levels, drop, prefer, known, ...rest } = request;
  const others = Object.fromEntries(Object.entries(levels ?? {}).filter(([each]) => each !== name));
  const wished = level === null || level === undefined ? others : { ...others, [name]: level };
  const left = [...named(drop).filter((each) => each !== name), ...(level === null ? [name] : [])];
  const still = Object.fromEntries(Object.entries(prefer ?? {}).filter(([each]) => !left.includes(each)));
  const parts = { levels: wished, drop: left, prefer: still, known: named(known).filter((each) => !left.includes(each)) };
  return { ...rest, ...Object.fromEntries(Object.entries(parts).filter(([, part]) => Object.keys(part).length)) };
}

/** The request without a column. */
export function without(request, name) {
  return changed(request, name, null);
}

/** What may be done with a column, as buttons. */
export function fixes(name, columns, request, look) {
  const levels = columns.find((column) => column.name === name)?.levels ?? [];
  const told = request.levels?.[name];
  const ways = levels.map((level) => [level, wish(level)]).filter(([, setting]) => setting !== null && setting !== told);
  const press = (words, setting, said) => button(words, () => look(changed(request, name, setting), said), { class: "plain", "aria-label": said });
  return make(
    "div",
    { class: "fixes" },
    told !== undefined && press("as before", undefined, `${name} as before`),
    ways.slice(0, MOST).map(([level, setting]) => press(phrase(level), setting, `${name} ${phrase(level)}`)),
    press("leave out", null, `${name} left out`),
  );
}

/** What the last fix changed, at the same epsilon. */
export function effect(before, rung) {
  const old = before?.ladder.rungs.find((each) => each.epsilon === rung.epsilon);
  if (!old) return null;
  const was = new Map(old.columns);
  const people = [
    ["people who could be found", old.found, rung.found],
    ["people whose secret could be guessed", old.guessed, rung.guessed],
  ].filter(([, one, other]) => Math.abs(one - other) >= 0.5);
  const kept = rung.columns.map(([name, share]) => [`kept of ${name}`, was.get(name) ?? 0, share]).filter(([, one, other]) => Math.abs(one - other) >= 0.01);
  const parts = [...people.map(([what, one, other]) => [what, ofThousand(one), ofThousand(other)]), ...kept.map(([what, one, other]) => [what, percent(one), percent(other)])];
  const told = parts.map(([what, one, other]) => `${what} ${one} → ${other}`).join("; ");
  return make("p", { class: "effect" }, make("b", {}, `${before.said}: `), told || "hardly anything changes at this epsilon", ".");
}
