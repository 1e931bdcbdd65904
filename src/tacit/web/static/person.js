// One person: who can piece together how much, and what if.

import { choice, filesOf, form, open, run, tick } from "./asking.js";
import { at, button, fill, make } from "./dom.js";

const WHAT_IF = [
  ["remove", "I had a source removed", "Which source to ask first, and what is left without it."],
  ["release", "I gave something away", "What leaks more if this is also known: name=Alice,phone=555. Empty: the options of the case.", "record"],
  ["dip", "somebody searched for me", "What a search brings up: name=Alice. Empty: the queries of the case.", "query"],
  ["verify-next", "somebody checked a fact", "What an adversary would check next. Do not confirm that."],
];

async function build(request) {
  const cases = await filesOf("case");
  if (!cases.length) {
    fill(at("ask"), make("p", {}, "There is no case file in this folder. ", make("code", {}, "tacit person init ."), " writes an example to start from."));
    return;
  }
  const about = choice("Case", cases, request.case);
  const values = tick("Show the values on this screen. Otherwise they are masked.", Boolean(request.show_values));
  form([about, values], [["audit", "How much is out?"]], () => run("/api/person/audit", { case: about.control.value, ...(values.control.checked ? { show_values: true } : {}) }, whatIf));
}

/** The questions that follow: each is a job of its own. */
function whatIf(job) {
  const lines = WHAT_IF.map(([action, words, note, setting]) => {
    const said = setting && make("input", { "aria-label": `${words}: what?`, placeholder: note.split(": ")[1]?.split(".")[0] ?? "" });
    const go = () => run(`/api/person/${action}`, { case: job.request.case, ...(said?.value.trim() ? { [setting]: [said.value.trim()] } : {}) }, whatIf);
    return make("li", {}, make("div", { class: "row" }, button(`… ${words}?`, go), said), make("small", {}, note));
  });
  const middle = make("section", { "aria-labelledby": "what-if" }, make("h2", { id: "what-if" }, "What if …"), make("ul", { class: "what-if" }, lines));
  // What to do first, the ladder, the merged record.
  return { middle, unfolded: 3 };
}

open(build, whatIf);
