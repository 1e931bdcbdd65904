// A job on its page: a bar with step, its share, time so far and a button to cancel; then its answer, or why there is none.

import { cancel, followed } from "./api.js";
import { button, fill, make, problem, say } from "./dom.js";
import { again, titled } from "./frame.js";
import { duration, percent } from "./words.js";

function bar(id) {
  const stage = make("p", { class: "stage" }, "waiting");
  const meter = make("progress", { max: "1", "aria-label": "How far this step is" });
  const left = make("span", { class: "note" });
  const stop = button("Cancel", async () => {
    stop.disabled = true;
    left.textContent = "stopping …";
    await cancel(id).catch(() => {});
  });
  const box = make("div", { class: "progress", role: "group", "aria-label": "Progress" }, stage, meter, make("div", { class: "row" }, left, stop));
  let told = "";
  const tell = (job) => {
    const words = job.stage || job.state;
    stage.textContent = words;
    if (typeof job.share === "number") meter.value = job.share;
    else meter.removeAttribute("value");
    const parts = [];
    if (typeof job.share === "number") parts.push(`${percent(job.share)} of this step`);
    if (typeof job.left === "number") parts.push(`about ${duration(job.left)} left`);
    else if (job.seconds > 2) parts.push(`${duration(job.seconds)} so far`);
    if (!stop.disabled) left.textContent = parts.join(" · ");
    if (words !== told) say((told = words));
  };
  return [box, tell];
}

/** Links to the sheets or tables of a file, where the refusal lists them. */
function tablesIn(message) {
  const [, file, names] = message.match(/choose one with (.*)::NAME: (.*)$/) ?? [];
  const source = (name) => encodeURIComponent(`${file}::${name}`);
  return (names?.split(", ") ?? []).map((name) => make("a", { href: `/table?source=${source(name)}`, class: "button" }, name));
}

function ended(job, retry) {
  const words = {
    failed: null,
    cancelled: "This job was cancelled. Nothing was written.",
    interrupted: "The server stopped while this job ran. Nothing was written.",
  }[job.state];
  // The first look at a table fails where it cannot be read.
  const unread = !words && job.verb === "columns";
  const told = words ? make("p", { class: "problem" }, words) : problem(job.error ?? { message: "The job failed, and did not say why." }, unread ? "This file cannot be read." : undefined);
  const tables = unread ? tablesIn(job.error?.message ?? "") : [];
  if (tables.length) return [make("p", {}, "This file holds several tables. Choose one:"), make("div", { class: "row" }, ...tables)];
  return [told, make("div", { class: "row" }, button("Run it again", retry), unread && make("a", { href: "/" }, "Choose another file"))];
}

/** Show a job in a box until it is over; resolves to the job if it is done, and to null otherwise. */
export async function shown(job, box, restarted) {
  const [progress, tell] = bar(job.id);
  fill(box, progress);
  box.setAttribute("aria-busy", "true");
  tell(job);
  let last;
  try {
    last = await followed(job.id, tell);
  } catch (error) {
    fill(box, problem(error));
    return null;
  } finally {
    box.removeAttribute("aria-busy");
  }
  if (last.state === "done") {
    say(`${titled(last)}: done`);
    fill(box);
    return last;
  }
  say(`${titled(last)}: ${last.state}`);
  fill(box, ended(last, async () => restarted(await again(last))));
  return null;
}
