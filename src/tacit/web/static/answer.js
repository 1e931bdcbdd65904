// A verb's answer as the report shows it. The server writes it with every value escaped; here what stands in its "main"
// is taken over, without its style and script, and one level of headings down, under the title of the page.

import { read } from "./api.js";
import { make } from "./dom.js";

const DOWN = { H1: "h2", H2: "h3", H3: "h4" };
const NOT_OURS = "script, style, link, meta, iframe, object, embed, form, base";

function lowered(heading) {
  const lower = make(DOWN[heading.tagName], { class: `was-${heading.tagName.toLowerCase()}` });
  lower.append(...heading.childNodes);
  heading.replaceWith(lower);
}

function reachable(box) {
  for (const each of box.querySelectorAll(".scroll")) {
    if (each.scrollWidth > each.clientWidth) {
      each.tabIndex = 0;
      each.setAttribute("role", "region");
      each.setAttribute("aria-label", "Table, scrolls sideways");
    }
  }
}

/** All sections but the first few, behind one line. */
function folded(box, sections) {
  const rest = [...box.querySelectorAll(":scope > section")].slice(sections);
  if (!rest.length) return;
  const behind = make("details", { class: "other beneath" }, make("summary", {}, "All that is behind this answer"));
  rest[0].before(behind);
  behind.append(...rest);
}

/** The answer of a job as an element; `sections` of it are open, the others folded. */
export async function answer(id, sections = Infinity) {
  const text = await read(`/api/jobs/${encodeURIComponent(id)}/page`);
  // Its style stays behind before it is parsed: the page's policy would refuse it aloud.
  const parsed = new DOMParser().parseFromString(text.slice(text.indexOf("<main"), text.lastIndexOf("</main>")), "text/html");
  const main = parsed.querySelector("main");
  main.querySelectorAll(NOT_OURS).forEach((each) => each.remove());
  [...main.querySelectorAll("h3, h2, h1")].forEach(lowered);
  const box = make("article", { class: "document", "aria-label": "The answer" }, [...main.childNodes].map((each) => document.importNode(each, true)));
  folded(box, sections);
  requestAnimationFrame(() => reachable(box));
  return box;
}
