// A verb's answer as the report shows it. The server writes it with every value escaped; here what stands in its "main"
// is taken over, without its style and script, and one level of headings down, under the title of the page.

import { read } from "./api.js";
import { make } from "./dom.js";

const DOWN = { H1: "h2", H2: "h3", H3: "h4" };
const NOT_OURS = "script, style, link, meta, iframe, object, embed, form, base";

function lowered(heading) {
  const lower = make(DOWN[heading.tagName], { class: `was-${heading.tagName.toLowerCase()} ${heading.className}`.trim() });
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

/** All sections but the first few behind their titles, as the report folds some of its own. */
function folded(box, open) {
  for (const section of [...box.querySelectorAll(":scope > section")].slice(open)) {
    const title = section.querySelector(":scope > .was-h2");
    if (!title) continue;
    const part = make("details", { class: "part" }, make("summary", {}, title), [...section.childNodes]);
    section.replaceChildren(part);
  }
}

/** The answer of a job as an element; the first `open` sections are open, the others folded. */
export async function answer(id, open = Infinity) {
  const text = await read(`/api/jobs/${encodeURIComponent(id)}/page`);
  // Its style is removed before parsing: the page's policy would refuse it with an error in the console.
  const parsed = new DOMParser().parseFromString(text.slice(text.indexOf("<main"), text.lastIndexOf("</main>")), "text/html");
  const main = parsed.querySelector("main");
  main.querySelectorAll(NOT_OURS).forEach((each) => each.remove());
  [...main.querySelectorAll("h3, h2, h1")].forEach(lowered);
  const box = make("article", { class: "document", "aria-label": "The answer" }, [...main.childNodes].map((each) => document.importNode(each, true)));
  folded(box, open);
  requestAnimationFrame(() => reachable(box));
  return box;
}
