// Which column is what? Tacit guesses, and the reader says; nothing is looked at before that.

import { button, fill, make, say } from "./dom.js";
import { count, listed, named, parted, quoted, secretIn } from "./words.js";

const KINDS = {
  identifier: "identifier",
  date: "date",
  place: "place",
  number: "number",
  category: "group",
  text: "free text",
  constant: "the same everywhere",
};
const ROLES = [
  ["released", "Released"],
  ["secret", "Secret: must not be learned"],
  ["drop", "Left out"],
];

function guessed(result) {
  const role = (name) => (result.proposed_secret.includes(name) ? "secret" : result.proposed_drop.includes(name) ? "drop" : "released");
  // Others may well know a column. Saying so weakens the promise, so the reader decides, not Tacit.
  return new Map(result.columns.map(({ name }) => [name, { role: role(name), known: false, maybe: result.proposed_known.includes(name), values: [], guess: role(name) }]));
}

function chosen(result, request) {
  const roles = guessed(result);
  for (const [name, facts] of request?.secret ? roles : []) {
    const has = (setting) => named(request[setting]).includes(name);
    Object.assign(facts, { role: has("secret") ? "secret" : has("drop") ? "drop" : "released", known: has("known"), values: request.secret[name] ?? [] });
  }
  return roles;
}

function looks(column) {
  // "numbers" says nothing beside "number".
  const reason = column.reason === `${column.kind}s` ? null : column.reason;
  const notes = [reason, column.missing ? `${count(column.missing)} missing` : null].filter(Boolean);
  return [KINDS[column.kind] ?? column.kind, column.likely_secret && make("span", { class: "kind" }, "likely secret"), make("small", {}, notes.join("; "))];
}

function row(column, facts, changed) {
  const mark = make("small", { class: "guess" });
  const marked = () => (mark.textContent = facts.role === facts.guess ? "our guess" : "your choice");
  const select = make(
    "select",
    {
      "aria-label": `What is ${column.name}?`,
      onchange: () => {
        facts.role = select.value;
        marked();
        changed();
      },
    },
    ROLES.map(([value, words]) => make("option", { value, selected: value === facts.role }, words)),
  );
  marked();
  const known = check(facts, "known", `Somebody may know ${column.name}`, changed);
  const values = onlyThese(column, facts, changed);
  facts.refresh = (secrets) => {
    known.disabled = facts.role !== "released";
    values.hidden = facts.role !== "secret" || secrets.length > 1;
  };
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, column.name),
    make("td", { "data-label": "Looks like" }, looks(column)),
    make("td", { "data-label": "Different values" }, count(column.distinct), make("small", {}, column.examples.join(", "))),
    make("td", { "data-label": "It is" }, select, mark, values),
    make("td", { class: "tick", "data-label": "A neighbour may know it" }, known, facts.maybe && make("small", { class: "guess" }, "others may well know this")),
  );
}

/** The values of a secret, where not all of them are; none stands for all. */
function onlyThese(column, facts, changed) {
  const box = make("input", { value: facts.values.map(quoted).join(", "), autocomplete: "off", placeholder: column.examples.map(quoted).join(", ") });
  box.addEventListener("input", () => {
    facts.values = parted(box.value);
    changed();
  });
  const words = `Are only some values of ${column.name} secret? Name them, separated by commas; all others count as one.`;
  return make("label", { class: "values" }, make("small", {}, words), box);
}

function check(facts, setting, words, changed) {
  const box = make("input", { type: "checkbox", "aria-label": words, checked: facts[setting] });
  box.addEventListener("change", () => {
    facts[setting] = box.checked;
    changed();
  });
  return box;
}

function request(source, roles) {
  const those = (test) => [...roles].filter(([, facts]) => test(facts)).map(([name]) => name);
  const asked = {
    secret: those((facts) => facts.role === "secret"),
    drop: those((facts) => facts.role === "drop"),
    known: those((facts) => facts.known && facts.role === "released"),
  };
  const said = Object.fromEntries(Object.entries(asked).filter(([, names]) => names.length));
  const values = asked.secret.length === 1 ? roles.get(asked.secret[0]).values : [];
  return { source, ...said, ...(values.length ? { secret: { [asked.secret[0]]: values } } : {}) };
}

/** What was set elsewhere, for columns that are still released. */
function kept(before, roles) {
  const still = Object.entries(before?.levels ?? {}).filter(([name]) => roles.get(name)?.role === "released");
  return { ...(before?.use ? { use: before.use } : {}), ...(still.length ? { levels: Object.fromEntries(still) } : {}) };
}

function summed(asked, roles) {
  const released = [...roles].filter(([, facts]) => facts.role === "released").map(([name]) => name);
  const parts = [
    ["Must not be learned", asked.secret && [secretIn(asked.secret)]],
    ["Released", released],
    ["Left out", asked.drop],
    ["A neighbour may know", asked.known],
  ];
  return parts.map(([words, names]) => make("div", {}, make("dt", {}, words), make("dd", {}, names?.length ? listed(names) : "nothing")));
}

/** The first step: a table of columns with guesses to confirm, and what somebody may know already. */
export function columnsStep(job, before, audit) {
  const result = job.result;
  const roles = chosen(result, before);
  const sum = make("dl", { class: "summed" });
  const go = button("This is right: look at what it gives away", () => audit({ ...kept(before, roles), ...request(job.request.source, roles) }), { class: "main" });
  const refused = make("p", { class: "problem", role: "alert", hidden: true });
  const changed = () => {
    const asked = request(job.request.source, roles);
    roles.forEach((facts) => facts.refresh(named(asked.secret)));
    fill(sum, summed(asked, roles));
    const none = !asked.secret ? "Choose the column that must not be learned." : [...roles.values()].every((facts) => facts.role !== "released") ? "Release at least one column." : "";
    refused.hidden = !none;
    refused.textContent = none;
    go.disabled = Boolean(none);
    say(none);
  };
  const heads = ["Column", "Looks like", "Different values", "What is it?", "A neighbour may know it"];
  const table = make(
    "table",
    { class: "columns cards" },
    make("caption", {}, `${count(result.source.records)} records, ${count(result.columns.length)} columns`),
    make("thead", {}, make("tr", {}, heads.map((words) => make("th", { scope: "col" }, words)))),
    make("tbody", {}, result.columns.map((column) => row(column, roles.get(column.name), changed))),
  );
  changed();
  return [
    make("h2", {}, "Which column must nobody learn?"),
    make("p", {}, "We guessed what each column is. Please check every line: only you know."),
    make("p", {}, make("b", {}, "What might a neighbour, a colleague or an employer already know about somebody?"), " Tick it: the age, the sex, the place, the day of an event. Tacit then counts who could be found by somebody who knows it, and the promise is about what a row adds to it. What the ticked columns say about the secret on their own is no longer limited: tick no more than you need to."),
    table,
    make("section", { class: "confirm", "aria-labelledby": "confirm" }, make("h2", { id: "confirm" }, "Is this right?"), sum, refused, go),
  ];
}
