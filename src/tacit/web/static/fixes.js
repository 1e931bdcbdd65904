// One click for a column: tell the month instead of the day, or leave it out.

import { button, make } from "./dom.js";
import { withTrial } from "./trying.js";
import { named } from "./words.js";

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

/** What may be done with a column, as buttons; `tried` is what was measured of those that were pressed before. */
export function fixes(name, columns, request, look, tried) {
  const levels = columns.find((column) => column.name === name)?.levels ?? [];
  const told = request.levels?.[name];
  const ways = levels.map((level) => [level, wish(level)]).filter(([, setting]) => setting !== null && setting !== told);
  const press = (words, setting, said) => withTrial(button(words, () => look(changed(request, name, setting), said), { class: "plain", "aria-label": said }), tried[said]);
  return make(
    "div",
    { class: "fixes" },
    told !== undefined && press("as before", undefined, `${name} as before`),
    ways.slice(0, MOST).map(([level, setting]) => press(phrase(level), setting, `${name} ${phrase(level)}`)),
    press("leave out", null, `${name} left out`),
  );
}
