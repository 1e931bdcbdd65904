// What every page has: the list of jobs. A job goes on when its tab is closed, and is found again here.

import { OVER, ask, cancel, read } from "./api.js";
import { at, button, fill, make, say } from "./dom.js";
import { percent } from "./words.js";

const NAMES = {
  columns: "Columns",
  audit: "Audit",
  ladder: "Trade-off",
  protect: "Release",
  verify: "Verify",
  attack: "Attack",
};
const STATES = { waiting: "waiting", running: "running", done: "done", failed: "failed", cancelled: "cancelled", interrupted: "interrupted" };
const heard = new Map();

/** What a job does, in a few words. */
export function titled(job) {
  const request = job.request ?? {};
  const about = request.source ?? request.release ?? request.case ?? "";
  const verb = NAMES[job.verb] ?? job.verb.replaceAll(/[-_/]/g, " ");
  return about ? `${verb}: ${String(about).split("/").at(-1)}` : verb;
}

/** The page that shows a job. */
export function address(job) {
  const id = encodeURIComponent(job.id);
  const request = job.request ?? {};
  if (job.verb.startsWith("person")) return `/person?job=${id}`;
  if (job.verb === "verify" || job.verb === "attack") return `/check?job=${id}`;
  if (request.text) return `/text?job=${id}`;
  if (request.labels || /\.npz$/i.test(request.source ?? "")) return `/images?job=${id}`;
  return `/table?job=${id}`;
}

/** When it was asked: the time, or the day if it was not today. */
function asked(job) {
  const at = new Date(job.asked * 1000);
  const today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString("en-GB", { timeStyle: "short" }) : at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

function line(job, again) {
  const share = job.state === "running" && typeof job.share === "number" ? ` ${percent(job.share)}` : "";
  const stop = !OVER.has(job.state) && button("Cancel", () => cancel(job.id).then(again, again), { class: "plain", "aria-label": `Cancel ${titled(job)}` });
  return make(
    "li",
    {},
    make("a", { href: address(job) }, titled(job)),
    make("span", { class: "note" }, asked(job)),
    make("span", { class: `state ${job.state}` }, `${STATES[job.state]}${share}`),
    stop,
  );
}

function announce(jobs) {
  for (const job of jobs) {
    const before = heard.get(job.id);
    if (before && before !== job.state && OVER.has(job.state)) say(`${titled(job)}: ${job.state}`);
    heard.set(job.id, job.state);
  }
}

async function refresh() {
  let jobs;
  try {
    jobs = (await read("/api/jobs")).filter((job) => job.verb !== "explain-text");
  } catch {
    return 5000;
  }
  const running = jobs.filter((job) => !OVER.has(job.state)).length;
  announce(jobs);
  fill(at("jobs-count"), running ? `${running} running` : String(jobs.length));
  at("jobs-count").classList.toggle("running", running > 0);
  // Redrawing the list under the pointer or the focus would lose it.
  if (!at("jobs-list").contains(document.activeElement)) {
    const shown = jobs.slice(0, 12).map((job) => line(job, refresh));
    fill(at("jobs-list"), shown.length ? shown : make("li", { class: "quiet" }, "No job yet."));
  }
  return running ? 1000 : 4000;
}

async function watch() {
  const pause = document.hidden ? 4000 : await refresh();
  setTimeout(watch, pause);
}

function closing(event) {
  const menu = at("jobs");
  if (menu.open && (event.key === "Escape" || (event.type === "click" && !menu.contains(event.target)))) {
    menu.open = false;
    if (event.key) menu.querySelector("summary").focus();
  }
}

/** Start the list of jobs. */
export function begin() {
  document.addEventListener("keydown", closing);
  document.addEventListener("click", closing);
  watch();
}

/** Run a job of this kind once more. */
export function again(job) {
  return ask(`/api/${job.verb}`, job.request);
}
