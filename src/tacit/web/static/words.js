// Numbers and phrases for people. What is promised is rounded so that it stays true.

const WHOLE = new Intl.NumberFormat("en");

/** 12,345 */
export function count(number) {
  return WHOLE.format(number);
}

/** 0.643 as 64%; what is not quite all or nothing is not called so. */
export function percent(share) {
  const value = 100 * Math.min(Math.max(share, 0), 1);
  if (value > 99 && value < 100) return `${(Math.floor(value * 10) / 10).toFixed(1)}%`;
  if (value > 0 && value < 1) return value < 0.1 ? "<0.1%" : `${value.toFixed(1)}%`;
  return `${Math.round(value)}%`;
}

/** People of 1,000, with a decimal where there are few. */
export function ofThousand(number) {
  if (number > 0 && number < 0.1) return "<0.1";
  return number > 0 && number < 10 ? String(Math.round(number * 10) / 10) : count(Math.round(number));
}

/** Whom a table puts at risk, as its audit was asked about it: with its changes. The ladder starts from the file itself. */
export function atRisk({ fixes, ladder }) {
  return fixes ?? ladder.original;
}

/** The factor that an epsilon stands for, rounded up: the sentence it stands in is a promise. */
export function factor(epsilon) {
  const times = Math.exp(epsilon);
  const digits = times < 10 ? 100 : times < 100 ? 10 : 1;
  return count(Math.ceil(times * digits - 1e-9) / digits);
}

/**
 * What epsilon means of a request, in a sentence. Where columns are known, the bound is on what a row adds to them: what
 * they say by themselves is not in it. With `epsilon_high` the upper side alone is bounded.
 */
export function promise(epsilon, request) {
  const known = named(request.known);
  const sides = request.epsilon_high === undefined ? ", or as unlikely." : ". It may make one unlikely, or rule it out.";
  const change = `no value of ${secretIn(request.secret)} more than ${factor(epsilon)} times as likely as before${sides}`;
  if (!known.length) return `Reading a row makes ${change}`;
  return `To somebody who knows ${listed(known)} about a person, as the release writes it, reading the row makes ${change} What ${listed(known)} ${known.length === 1 ? "says on its own" : "say on their own"} is not counted.`;
}

/** The secret of a request: its columns, or the values of one that are secret. */
export function secretIn(secret) {
  const values = Object.values(typeof secret === "string" || Array.isArray(secret) ? {} : secret).flat();
  return values.length ? `${named(secret)[0]} (${listed(values)}; all others are one)` : listed(named(secret));
}

/** Values with commas between them; one that holds a comma is in double quotes. */
export function parted(text) {
  const parts = [...text.matchAll(/\s*"((?:[^"]|"")*)"|[^,]+/g)].map(([whole, inside]) => inside?.replaceAll('""', '"') ?? whole.trim());
  return [...new Set(parts)].filter(Boolean);
}

/** A value as `parted` takes it. */
export function quoted(value) {
  return /[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** The columns that a setting of a request names; of a secret with values, its column. */
export function named(setting) {
  return [setting ?? []].flat().flatMap((each) => (typeof each === "string" ? each : Object.keys(each)));
}

/** Seconds as one would say them. */
export function duration(seconds) {
  if (seconds < 1.5) return "a second";
  if (seconds < 60) return `${Math.round(seconds)} seconds`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return minutes === 1 ? "a minute" : `${minutes} minutes`;
  const hours = Math.round(minutes / 6) / 10;
  return hours === 1 ? "an hour" : `${hours} hours`;
}

/** A size of a file. */
export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let place = 0;
  while (bytes >= 1000 && place < units.length - 1) [bytes, place] = [bytes / 1000, place + 1];
  return `${place ? bytes.toPrecision(3) : bytes} ${units[place]}`;
}

/** a, b and c */
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
