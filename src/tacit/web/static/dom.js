// Elements made by hand. What comes from a file is always a text node or an attribute, never markup.

function dressed(element, facts, inside) {
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...inside.flat(Infinity).filter((each) => each !== undefined && each !== null && each !== false));
  return element;
}

/** An element with attributes, listeners (`onclick`), and what is inside it; strings inside are text. */
export function make(tag, facts = {}, ...inside) {
  return dressed(document.createElement(tag), facts, inside);
}

/** The same of a drawing. */
export function draw(tag, facts = {}, ...inside) {
  return dressed(document.createElementNS("http://www.w3.org/2000/svg", tag), facts, inside);
}

/** The element with this id. */
export function at(id) {
  return document.getElementById(id);
}

/** Replace all that an element holds by these. */
export function fill(box, ...inside) {
  box.replaceChildren(...inside.flat(Infinity).filter((each) => each !== undefined && each !== null && each !== false));
  return box;
}

/** Begin at a box that was filled anew: the focus is on it, and it is seen from its top. */
export function beginAt(box) {
  window.scrollTo(0, 0);
  box.tabIndex = -1;
  box.focus({ preventScroll: true });
}

/** Tell those who listen instead of looking. */
export function say(words) {
  const place = at("said");
  if (place.textContent !== words) place.textContent = words;
}

/** A button that does something. */
export function button(words, does, facts = {}) {
  return make("button", { type: "button", onclick: does, ...facts }, words);
}

/** An error beside what it is about: the command line's own sentence, after what it means here, if that is not said. */
export function problem(error, means) {
  return make("p", { class: "problem", role: "alert" }, means && make("b", {}, `${means} `), error.message);
}

/** A wide table in a box that scrolls sideways, by keys too; an edge and a note say that there is more on the right. */
export function scrolling(table, labelledby) {
  const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": labelledby }, table);
  const note = make("p", { class: "note", hidden: true }, "Scroll sideways to see more columns.");
  const edged = make("div", { class: "edged" }, box);
  const look = () => {
    note.hidden = box.scrollWidth <= box.clientWidth + 1;
    edged.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  };
  box.addEventListener("scroll", look);
  const sizes = new ResizeObserver(look);
  sizes.observe(box);
  sizes.observe(table);
  return [note, edged];
}

/** A text with a button that copies it. */
export function copied(text) {
  const done = make("span", { class: "note" });
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    done.textContent = "copied";
    say("copied");
  };
  return make("div", { class: "command" }, make("code", {}, text), button("Copy", copy, { class: "plain" }), done);
}
