// A release that was received: is its promise true, and would somebody still win?

import { choice, filesOf, form, open, refuse, run } from "./asking.js";
import { at, fill, make } from "./dom.js";

async function build(request) {
  const [releases, originals] = [await filesOf("release"), await filesOf("table", "images")];
  if (!releases.length) {
    fill(at("ask"), make("p", {}, "There is no release in this folder. Drop its zip on the page ", make("a", { href: "/" }, "Files"), ", or copy its folder here."));
    return;
  }
  const release = choice("Release", releases, request.release);
  const against = choice("Original", [["", "I do not have it"], ...originals], request.against ?? "", "Only the owner has it. Without it, some lines cannot be checked.");
  const pressed = [
    ["verify", "Is the promise true?"],
    ["attack", "Try to break it"],
  ];
  form([release, against], pressed, (verb) => {
    if (verb === "attack" && !against.control.value) refuse({ message: "Trying to break a release takes the original, to see whether a guess is right. Choose it above, or ask its owner to try." });
    else run(`/api/${verb}`, { release: release.control.value, ...(against.control.value ? { against: against.control.value } : {}) }, beside);
  });
}

function beside(job) {
  return { unfolded: job.verb === "verify" ? 1 : 2 };
}

open(build, beside);
