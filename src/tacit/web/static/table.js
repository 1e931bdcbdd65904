// A table from its columns to its release. Every step is a job; what was asked of it is all that a page needs to show
// the step again, so that a closed tab, a second tab and the button "back" lose nothing.

import { ask, followed, job as jobOf, read } from "./api.js";
import { advised } from "./advice.js";
import { answer } from "./answer.js";
import { columnsStep } from "./columns.js";
import { at, beginAt, button, copied, fill, make, problem } from "./dom.js";
import { address, begin } from "./frame.js";
import { shown } from "./progress.js";
import { releaseStep, writtenStep } from "./release.js";
import { tradeOffStep } from "./tradeoff.js";
import { changedBy } from "./trying.js";

const STEPS = [
  ["columns", "Columns"],
  ["audit", "What it gives away"],
  ["ladder", "How much to reveal"],
  ["protect", "Release"],
];
// The sections that an audit begins with.
const THREE = 3;
// What a step hands on to the next one: the question, not how closely it was looked at.
const QUESTION = ["source", "secret", "drop", "known", "use", "levels", "bins", "keep_id", "weight"];
const CONDITIONS = [...QUESTION, "prefer", "least", "epsilon_high"];
const ASKED = { columns: ["source"], audit: [...QUESTION, "estimator"], ladder: CONDITIONS, protect: [...CONDITIONS, "epsilon", "out"] };

/** What of a request a verb can be asked; a trade-off has epsilons of its own, and is asked for one side or both. */
function asked(verb, request) {
  const said = Object.fromEntries(ASKED[verb].filter((name) => request[name] !== undefined).map((name) => [name, request[name]]));
  return verb === "ladder" && said.epsilon_high !== undefined ? { ...said, epsilon_high: 1 } : said;
}

function steps(current, request) {
  const reached = STEPS.findIndex(([verb]) => verb === current);
  const list = at("steps");
  list.hidden = false;
  fill(
    list,
    STEPS.map(([verb, words], place) => {
      const inside = place < reached ? button(words, () => back(verb, request), { class: "link" }) : words;
      return make("li", { class: place < reached ? "past" : place === reached ? "here" : "to-come", "aria-current": place === reached ? "step" : null }, inside);
    }),
  );
}

function title(source) {
  at("name").textContent = String(source).split("/").at(-1);
  document.title = `${at("name").textContent} · Tacit`;
}

// What belongs to a job and is not in its request: this tab remembers it.
function keep(what, job, value) {
  sessionStorage.setItem(`${what} ${job.id}`, JSON.stringify(value));
}

function kept(what, job) {
  return JSON.parse(sessionStorage.getItem(`${what} ${job.id}`) ?? "null");
}

/** What is known about the columns of a table, from an earlier job if there is one. */
async function lookedAt(source) {
  const earlier = (await read("/api/jobs")).find((job) => job.verb === "columns" && job.state === "done" && job.request.source === source);
  const done = earlier ? await jobOf(earlier.id) : await followed((await ask("/api/columns", { source })).id, () => {});
  return done.result ?? { columns: [] };
}

/** A step that was taken: its job, if there is one that was asked the same. */
async function back(verb, request) {
  const wanted = JSON.stringify(asked(verb, request));
  const done = (await read("/api/jobs").catch(() => [])).filter((job) => job.state === "done" && JSON.stringify(asked(verb, job.request)) === wanted);
  const earlier = done.find((job) => job.verb === verb);
  const audited = verb === "ladder" && done.find((job) => job.verb === "audit" && !request.prefer);
  if (!earlier && audited) return further(await jobOf(audited.id));
  if (!earlier) return start(verb, request);
  if (verb === "columns") keep("chosen", earlier, request);
  history.pushState({}, "", address(earlier));
  return open();
}

async function release(request) {
  const { written } = await lookedAt(request.source);
  steps("protect", request);
  fill(at("step"), releaseStep(request, written, start));
  beginAt(at("step"));
}

/** Ask for a step, and show it. */
async function start(verb, request, change) {
  try {
    const job = await ask(`/api/${verb}`, asked(verb, request));
    if (verb === "columns") keep("chosen", job, request);
    if (change) keep("changed", job, change);
    history.pushState({}, "", address(job));
    await show(job);
  } catch (error) {
    fill(at("step"), problem(error));
  }
}

/**
 * The change that led from an earlier job to this one, and that job; `undo` goes back to it, `note` remembers beside its
 * button what was measured.
 */
async function changeOf(job) {
  const change = kept("changed", job);
  const earlier = change && (await jobOf(change.from).catch(() => null));
  if (!earlier?.result) return null;
  const key = change.wanted ? `${change.said} ${change.wanted}` : change.said;
  const undo = () => {
    if (change.epsilon !== undefined) keep("epsilon", earlier, change.epsilon);
    history.pushState({}, "", `${address(earlier)}${earlier.verb === "audit" && change.epsilon !== undefined ? "&tell=1" : ""}`);
    return show(earlier);
  };
  return { ...change, earlier, undo, note: (told) => keep("tried", earlier, { ...kept("tried", earlier), [key]: told }) };
}

/** The trade-off: from a job of its own, or the one that came with an audit. */
async function tradeOff(job, ladder) {
  const change = job.verb === "ladder" ? await changeOf(job) : null;
  const before = change && { ...change, ladder: change.earlier.result.ladder ?? change.earlier.result };
  const look = (request, said, epsilon, wanted) => start("ladder", request, { from: job.id, said, epsilon, wanted });
  return tradeOffStep({ ladder, request: asked("ladder", job.request), columns: (await lookedAt(job.request.source)).columns, before, tried: kept("tried", job) ?? {}, epsilon: kept("epsilon", job), look, release });
}

function further(job) {
  if (!job.result.ladder) return start("ladder", job.request);
  history.pushState({}, "", `${address(job)}&tell=1`);
  return show(job);
}

const SHOW = {
  columns: (job) => columnsStep(job, kept("chosen", job), (request) => start("audit", request)),
  audit: async (job) => {
    const told = await answer(job.id, THREE);
    const change = await changeOf(job);
    const look = (request, words) => start("audit", request, { from: job.id, said: words });
    told.insertBefore(make("div", {}, change && changedBy(change, change.earlier, job)), told.querySelector(":scope > section"));
    advised(told.querySelectorAll(":scope > section")[THREE - 1], job, look, kept("tried", job) ?? {});
    const next = make("section", { class: "next", "aria-label": "Next step" }, button("See what a safe version would keep", () => further(job), { class: "main" }));
    // After who is at risk, what gives it away and what to do; before all that is behind it.
    told.insertBefore(next, told.querySelectorAll(":scope > section")[THREE] ?? null);
    return [told, command(job)];
  },
  ladder: (job) => tradeOff(job, job.result.ladder ?? job.result),
  protect: async (job) => [writtenStep(job), await answer(job.id, 2), command(job)],
};

function command(job) {
  return job.command && make("details", { class: "other" }, make("summary", {}, "The same on the command line"), copied(job.command));
}

async function show(job) {
  const box = at("step");
  const pressed = at("main").contains(document.activeElement);
  // An audit brings its trade-off with it, which is a step of its own.
  const step = job.verb === "audit" && new URLSearchParams(location.search).has("tell") ? "ladder" : job.verb;
  title(job.request.source);
  steps(step, job.request);
  const done = job.state === "done" && job.result ? job : await shown(job, box, (next) => {
    history.replaceState({}, "", address(next));
    show(next);
  });
  if (!done) return;
  try {
    fill(box, await SHOW[step](done));
    // The button pressed is gone: keyboard users go on at the result, not at the top of the page.
    if (pressed) beginAt(box);
  } catch (error) {
    fill(box, problem(error));
  }
}

async function open() {
  const where = new URLSearchParams(location.search);
  if (where.get("job")) {
    try {
      await show(await jobOf(where.get("job")));
    } catch (error) {
      fill(at("step"), problem(error));
    }
  } else if (where.get("source")) {
    title(where.get("source"));
    const job = await ask("/api/columns", { source: where.get("source") }).catch((error) => void fill(at("step"), problem(error)));
    if (!job) return;
    // The address of the job, so that reloading the page does not ask again.
    history.replaceState({}, "", address(job));
    await show(job);
  } else {
    fill(at("step"), make("p", {}, "Choose a table first: ", make("a", { href: "/" }, "files in this folder"), "."));
  }
}

window.addEventListener("popstate", open);
begin();
open();
