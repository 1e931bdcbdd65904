// Posts: which words tell, learned from a table; then read a post while it is typed.

import { ask, followed, forget } from "./api.js";
import { choice, filesOf, form, open, run } from "./asking.js";
import { at, button, fill, make, problem, say } from "./dom.js";
import { releaseBox, writtenStep } from "./release.js";
import { named, percent } from "./words.js";

// How far a word moves the belief, in nats, for each strength of its mark; the report's own steps.
const STEPS = [0.1, 0.25, 0.5, 1];

function strength(piece) {
  const moved = piece.moved === "inf" ? Infinity : piece.moved;
  return piece.secret ? STEPS.filter((least) => moved >= least).length : 0;
}

async function columns(source) {
  const done = await followed((await ask("/api/columns", { source })).id, () => {});
  if (!done.result) throw new Error(done.error?.message ?? "The columns could not be read.");
  return done.result.columns;
}

/** A name for what is learned that no file has yet. */
async function freeName(source) {
  const taken = new Set(await filesOf("model"));
  const stem = `${source.replace(/\.[^.]*$/, "")}-words`;
  let [name, number] = [`${stem}.tacit`, 2];
  while (taken.has(name)) name = `${stem}-${number++}.tacit`;
  return name;
}

async function build(request) {
  const [tables, models] = [await filesOf("table"), await filesOf("model")];
  if (!tables.length) {
    fill(at("ask"), make("p", {}, "There is no table in this folder. Drop one on the page ", make("a", { href: "/" }, "Tables"), "."));
    return;
  }
  const source = choice("Table of posts", tables, request.source);
  const asked = async (known) => {
    const found = await columns(source.control.value);
    const names = found.map(({ name }) => name);
    const posts = found.find(({ kind }) => kind === "text") ?? [...found].sort((one, other) => other.distinct - one.distinct)[0];
    const guess = found.find((each) => each.likely_secret && each.name !== posts?.name);
    const text = choice("Column with the posts", names, known.text ?? posts?.name);
    const secret = choice("Column that must not be learned", [["", "choose …"], ...names], named(known.secret)[0] ?? guess?.name);
    secret.control.required = true;
    form([source, text, secret], [["audit", "Read the posts"]], async () => {
      const body = { source: source.control.value, text: text.control.value, secret: [secret.control.value] };
      await run("/api/audit", { ...body, save_model: await freeName(body.source) }, typing);
    });
    if (models.length) at("ask").append(earlier(models));
  };
  const shown = (known) => asked(known).catch((error) => fill(at("answer"), problem(error)));
  source.control.addEventListener("change", () => shown({}));
  await shown(request);
}

/** What was learned before can read a post at once. */
function earlier(models) {
  const model = choice("Or read a post with a model learned earlier", models);
  return make("div", { class: "row" }, model.element, button("Type a post", () => fill(at("answer"), typingBox(model.control.value))));
}

function word(piece, towards) {
  const strong = strength(piece);
  if (!strong) return piece.text;
  const way = piece.secret === towards ? "" : " away";
  return make("span", { class: `w w${strong} hue1${way}`, title: `towards ${piece.secret}: ${piece.verdict}` }, piece.text);
}

function reading(post) {
  const telling = post.pieces.filter(strength).map((piece) => piece.text);
  const unknown = post.unknown ? `; ${post.unknown} ${post.unknown === 1 ? "word is" : "words are"} not known` : "";
  return [
    make("p", { class: "told" }, make("span", {}, "points to ", make("b", {}, post.secret), `, with probability ${percent(post.posterior)}${unknown}`)),
    make("p", {}, post.pieces.map((piece) => word(piece, post.secret))),
    make("p", { class: "unseen" }, telling.length ? `Words that give it away: ${telling.join(", ")}` : "No single word gives it away."),
  ];
}

async function read(model, text) {
  const job = await followed((await ask("/api/explain-text", { model, text })).id, () => {});
  // What was typed is not kept: it is nobody's business afterwards.
  await forget(job.id).catch(() => {});
  if (!job.result) throw new Error(job.error?.message ?? "The post could not be read.");
  return job.result.posts[0];
}

function typingBox(model) {
  const typed = make("textarea", { id: "post", "aria-describedby": "post-note" });
  const result = make("div", { class: "post typed", "aria-live": "polite" }, make("p", { class: "quiet" }, "What you type is read here."));
  let waiting;
  let busy = false;
  const look = async () => {
    const text = typed.value;
    if (!text.trim() || busy) return;
    busy = true;
    try {
      fill(result, reading(await read(model, text)));
    } catch (error) {
      fill(result, problem(error));
    }
    busy = false;
    if (typed.value !== text) look();
  };
  typed.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 250);
  });
  say("Type a post to see which words give it away.");
  return make(
    "section",
    { class: "first", "aria-labelledby": "type" },
    make("h2", { id: "type" }, make("label", { for: "post" }, "Type a post")),
    typed,
    make("p", { class: "note", id: "post-note" }, "It stays on this computer, and is not kept. Stronger colour: the word says more; dotted: it points the other way. This is an estimate, and certifies nothing."),
    result,
  );
}

function typing(job) {
  if (job.verb === "protect") return { above: writtenStep(job), unfolded: 1 };
  const ways = [
    ["code", "Topics, proved", "each post becomes the words of one of a few topics that many posts share, and how often anybody can guess the secret is proved. It takes a few hundred posts."],
    ["mask", "Masks, an estimate", "words that say more than epsilon are masked. How well adversaries who learned from masked posts still guess is measured, and nothing is certified."],
  ];
  const below = releaseBox(job, ways, (request) => run("/api/protect", request, typing));
  return { above: job.request.save_model && typingBox(job.request.save_model), below, unfolded: 1 };
}

open(build, typing);
