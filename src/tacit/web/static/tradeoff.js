// How much to tell: one slider over what the server worked out once. Moving it asks nothing of the server.
// Its bars are drawn here: a chart library would weigh 0.9 MB, and a bar is two rectangles.

import { button, draw, fill, make, say, scrolling } from "./dom.js";
import { fixes, without } from "./fixes.js";
import { effect, withTrial } from "./trying.js";
import { count, factor, listed, ofThousand, percent, promise } from "./words.js";

const WIDTH = 200;
const HEIGHT = 14;
// How much more a ticked column counts than the others.
const FIRST = 3;
// The fewest people who share a row, by default.
export const LEAST = 10;
// How a cell reads that tells nothing.
const ANY = new Set(["any", "any number", "any date", "*"]);

function bar(share, before = 0) {
  const width = (value) => Math.max(0, Math.min(1, value)) * WIDTH;
  const stripes = [["null", 1], ["was-bar", before], ["bar", share]].map(([name, value]) => draw("rect", { class: name, width: width(value), height: HEIGHT, rx: 3 }));
  return draw("svg", { class: "chart meter", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true", preserveAspectRatio: "none" }, stripes);
}

function tile(name, value, note, drawing) {
  return make("div", { class: "tile" }, make("dt", {}, name), make("dd", {}, value, drawing, make("small", {}, note)));
}

function risk(name, before, after, note) {
  const words = [make("span", { class: "was" }, ofThousand(before)), make("span", { "aria-hidden": "true" }, " → "), make("span", { class: "unseen" }, " becomes "), make("b", {}, ofThousand(after))];
  return tile(name, words, note, bar(after / 1000, before / 1000));
}

function tiles(ladder, rung, cared) {
  const those = cared.size ? rung.columns.filter(([name]) => cared.has(name)) : rung.columns;
  const mean = those.reduce((sum, [, kept]) => sum + kept, 0) / Math.max(those.length, 1);
  return [
    risk("People who could be found", ladder.original.found, rung.found, "of 1,000: today, and after"),
    risk("People whose secret could be guessed", ladder.original.guessed, rung.guessed, `of 1,000, on top of ${ofThousand(ladder.prior)} guessed without it`),
    tile(cared.size ? "Kept of the columns you ticked" : "Kept per column", percent(mean), cared.size ? listed([...cared]) : "on average over all", bar(mean)),
    tile("People who share a row", `${count(rung.smallest)} or more`, `${count(rung.cells)} different rows`),
  ];
}

function cell(before, after) {
  if (before === after) return make("td", {}, after === "" ? make("span", { class: "quiet" }, "empty") : after);
  return make("td", { class: "changed" }, make("ins", {}, after === "" ? "nothing" : after), make("small", {}, make("span", { class: "unseen" }, "was "), make("del", {}, before === "" ? "empty" : before)));
}

function rows(ladder, rung) {
  return ladder.before.map((record, place) => make("tr", {}, make("th", { scope: "row" }, String(place + 1)), record.map((value, column) => cell(value, rung.rows[place][column]))));
}

/** Whether a column reads "any" in every row that is shown: what is kept of it is what other columns tell. */
function untold(ladder, rung, name) {
  const column = ladder.columns.indexOf(name);
  return rung.rows.length > 0 && rung.rows.every((row, place) => ANY.has(row[column]) && row[column] !== ladder.before[place][column]);
}

function heads(names) {
  return make("thead", {}, make("tr", {}, names.map((name) => (name ? make("th", { scope: "col" }, name) : make("td", {})))));
}

/** The column's own cells, and a function that fills them. */
function keptTable(ladder, cared, ways, why, changed) {
  const cells = new Map(ladder.columns.map((name) => [name, [make("td", { class: "meter-cell" }), make("td", { class: "n big" }), make("td", {}, ways(name), make("div"))]]));
  const care = (name) => {
    const box = make("input", { type: "checkbox", "aria-label": `${name} matters to readers`, checked: cared.has(name) });
    box.addEventListener("change", () => {
      if (box.checked) cared.add(name);
      else cared.delete(name);
      changed();
    });
    return box;
  };
  const lines = ladder.columns.map((name) => make("tr", {}, make("td", { class: "tick" }, care(name)), make("th", { scope: "row" }, name), cells.get(name)));
  const table = make("table", { class: "kept" }, make("caption", { class: "unseen" }, "What is kept of each column, and how else it could be written"), heads(["Matters", "Column", "Kept", "", "Write it another way"]), make("tbody", {}, lines));
  const show = (rung) => {
    for (const [name, share] of rung.columns) {
      const [meter, number, last] = cells.get(name);
      const silent = untold(ladder, rung, name);
      fill(meter, bar(share));
      fill(number, percent(share), silent && make("small", {}, "not shown"));
      fill(last.lastChild, silent && why(name, rung));
    }
  };
  return [table, show];
}

/**
 * Why a column reads "any" everywhere, and what may let it be told. An epsilon was tried, and is gone to; the rest is
 * worked out when it is asked for. What was measured then is told, stands beside the button afterwards, and is undone
 * with a click.
 */
function whyUntold(name, rung, ladder, request, move, look, tried) {
  const least = request.least ?? LEAST;
  const told = ladder.rungs.findIndex((other) => other.epsilon > rung.epsilon && !untold(ladder, other, name));
  const fullest = rung.columns.filter(([other]) => other !== name).sort(([, one], [, other]) => other - one)[0];
  const fewer = Math.ceil(least / 2);
  const press = (words, does, told) => withTrial(button(words, does, { class: "plain", "aria-label": `${words}, to show ${name}` }), told);
  const attempt = (words, other, said) => press(words, () => look(other, said, name), tried[`${said} ${name}`]);
  const ways = [
    told >= 0 && press(`epsilon ${ladder.rungs[told].epsilon}`, () => move(told), `${percent(new Map(ladder.rungs[told].columns).get(name))} kept`),
    attempt("keep it first", { ...request, prefer: { ...request.prefer, [name]: FIRST } }, `${name} first`),
    fewer < least && attempt(`${fewer} people per row`, { ...request, least: fewer }, `At least ${fewer} people`),
    fullest && fullest[1] > 0 && attempt(`leave out ${fullest[0]}`, without(request, fullest[0]), `${fullest[0]} left out`),
  ];
  const reason = `Given what the other columns say, no split of ${name} was found that keeps epsilon ${rung.epsilon} with ${least} people or more on each side.`;
  const hope = told >= 0 ? "A larger epsilon shows it. The others may: press one, see what it did, and undo it if it did not help." : "No epsilon tried shows it. These may: press one, see what it did, and undo it if it did not help.";
  return make("details", { class: "why" }, make("summary", {}, "Why, and what would show it"), make("p", { class: "note" }, `${reason} ${hope}`), make("div", { class: "fixes" }, ways));
}

/** What else may be asked of a release: both sides or the upper one, and how many people share a row. */
function conditions(request, look) {
  const both = make("input", { type: "checkbox", id: "both", checked: request.epsilon_high === undefined });
  const least = make("input", { type: "number", id: "least", min: "1", step: "1", required: true, value: String(request.least ?? LEAST) });
  const { epsilon_high: _, ...rest } = request;
  both.addEventListener("change", () => look(both.checked ? rest : { ...rest, epsilon_high: 1 }, both.checked ? "Both ways" : "Upwards only"));
  least.addEventListener("change", () => least.reportValidity() && look({ ...request, least: Number(least.value) }, `At least ${least.value} people`));
  return make(
    "div",
    { class: "row conditions" },
    make("label", { class: "inline-tick" }, both, "Promise both ways: a row may not make a secret unlikely or rule it out, either"),
    make("label", {}, "People who share a row, at least ", least),
  );
}

/** Where the slider begins: where it was before a fix, at what is suggested, or where most begin. */
function begun(ladder, epsilon) {
  const wanted = epsilon ?? ladder.epsilon ?? 0.5;
  const away = ladder.rungs.map((rung) => Math.abs(rung.epsilon - wanted));
  return away.indexOf(Math.min(...away));
}

function slider(rungs, chosen) {
  return make("input", { type: "range", id: "epsilon", min: "0", max: String(rungs.length - 1), step: "1", value: String(chosen), "aria-describedby": "promise" });
}

/**
 * The third step. `columns` are those that were guessed, with their levels; `before` is the ladder that a change
 * was made to, `tried` what was measured of changes to this one, `epsilon` where the slider was. `look` asks for another
 * trade-off, `release` goes on.
 */
export function tradeOffStep({ ladder, request, columns, before, tried, epsilon, look, release }) {
  const rungs = ladder.rungs;
  if (!rungs.length) return [make("p", { class: "problem" }, "No release keeps this secret at any epsilon tried. Leave columns out, or name the values that are secret."), conditions(request, (other, said) => look(other, said))];
  const again = (other, said, wanted) => look(other, said, rungs[range.value].epsilon, wanted);
  const cared = new Set(Object.keys(request.prefer ?? {}).filter((name) => ladder.columns.includes(name)));
  const first = () => again({ ...request, prefer: Object.fromEntries([...cared].map((name) => [name, FIRST])) }, `${listed([...cared])} first`);
  const prefer = button("Work it out again, and keep these first", first, { class: "again" });
  const range = slider(rungs, begun(ladder, before?.epsilon ?? epsilon));
  const [words, risks, after, compared] = [make("p", { id: "promise", class: "claim" }), make("dl", { class: "tiles" }), make("tbody"), make("div")];
  const side = request.epsilon_high === undefined ? "epsilon" : "epsilon_high";
  const go = button("", () => release({ ...request, [side]: rungs[range.value].epsilon }), { class: "main" });
  const to = (rung) => {
    range.value = String(rung);
    move();
    range.focus();
  };
  const why = (name, rung) => whyUntold(name, rung, ladder, request, to, again, tried);
  const [table, showKept] = keptTable(ladder, cared, (name) => fixes(name, columns, request, again, tried), why, () => move());
  const move = () => {
    const rung = rungs[range.value];
    const told = `${ofThousand(rung.found)} of 1,000 people could be found, ${percent(rung.kept)} of a column is kept`;
    const attained = rung.attained > 0 ? `Achieved: ${factor(rung.attained)}.` : "The release says nothing about it.";
    const ways = side === "epsilon" ? "either way" : "upwards";
    fill(words, promise(rung.epsilon, request), make("small", {}, `In numbers: epsilon ${rung.epsilon}, a factor of ${factor(rung.epsilon)} ${ways}. ${attained}`));
    fill(risks, tiles(ladder, rung, cared));
    showKept(rung);
    fill(after, rows(ladder, rung));
    fill(compared, effect(before, rung, Boolean(before?.wanted) && untold(ladder, rung, before.wanted)));
    prefer.hidden = !cared.size || [...cared].sort().join() === Object.keys(request.prefer ?? {}).sort().join();
    go.textContent = `Release at epsilon ${rung.epsilon}`;
    range.setAttribute("aria-valuetext", `epsilon ${rung.epsilon}: ${told}`);
    say(told);
  };
  range.addEventListener("input", move);
  move();
  return [
    make(
      "section",
      { class: "choose", "aria-labelledby": "how-much" },
      make("h2", { id: "how-much" }, make("label", { for: "epsilon" }, "How much may a row reveal?")),
      make("div", { class: "range" }, make("span", {}, "Less: safer"), range, make("span", {}, "More: finer")),
      words,
      risks,
      compared,
      conditions(request, again),
      ladder.sampled && make("p", { class: "note" }, `Worked out on ${count(ladder.sampled)} of ${count(ladder.records)} records. The release is made from all of them, and counted anew.`),
    ),
    make("section", { "aria-labelledby": "kept" }, make("h2", { id: "kept" }, "What is kept of each column"), make("p", { class: "note" }, "Tick the columns that matter to your readers."), table, prefer),
    make(
      "section",
      { "aria-labelledby": "rows" },
      make("h2", { id: "rows" }, "Ten records, before and after"),
      make("p", { class: "note" }, "A changed cell has a bar on its left, and below it what it was, struck through."),
      scrolling(make("table", { class: "rows" }, make("caption", { class: "unseen" }, "Ten records as they would be released"), heads(["#", ...ladder.columns]), after), "rows"),
    ),
    make("section", { class: "next", "aria-label": "Next step" }, go),
  ];
}
