// What an audit advises, as buttons: each runs the audit again with one thing changed. Then what that changed.

import { button, make } from "./dom.js";
import { ofThousand } from "./words.js";

/** The advice of an audit; `look` asks for the audit that follows it. */
export function advised(job, look) {
  const ways = (job.result.advice ?? []).map(({ words, settings }) => make("li", {}, button(words, () => look({ source: job.request.source, ...settings }, words), { class: "plain" })));
  return ways.length ? make("div", { class: "advised" }, make("p", {}, "Try it: the table is looked at again, and stays as it is."), make("ul", { class: "fixes" }, ways)) : "";
}

/** What a change did to the table as it is: who could be found, and whose secret could be guessed. */
export function changedBy(said, before, after) {
  const [old, now] = [before, after].map((job) => job.result.ladder.original);
  const people = `people of 1,000 who could be found ${ofThousand(old.found)} → ${ofThousand(now.found)}, whose secret could be guessed ${ofThousand(old.guessed)} → ${ofThousand(now.guessed)}`;
  return make("p", { class: "effect" }, make("b", {}, `${said}: `), people, ".");
}
