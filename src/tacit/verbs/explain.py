"""``explain``: a term, measure or mechanism in plain words, with its definition and its guarantee."""

from __future__ import annotations

import re
from difflib import get_close_matches

from tacit.errors import ArgumentError
from tacit.lift import MEASURES

# A term and what it means; what goes on is indented.
_TERMS = """
adversary: Whoever tries to learn the secret from the release. It knows how the release was made and how common every
  value is; it sees one record. In a person's case: whoever has the records of all sources, described by a list of steps
  (normalise, correct, augment, resolve), a merge policy and a cost.
attribute: One thing that a record says about a person: a label, a value and a confidence.
calibration: Whether predicted log-lifts come true. Models predict records they have not seen; the records are grouped
  by prediction, and the log-lift observed in each group is set beside it with exact binomial limits.
camouflage: Merging some safe values with the risky ones, where the risky ones alone still tilt towards a secret. It
  costs a little utility and is used only when the plain watchdog cannot reach epsilon.
case: A YAML file about one person: the truth, the labels, the sources, the adversaries and the questions. `tacit
  person init` writes one with comments.
cell: What a record is released as: a range or group of values for each column, true of the record and of at least
  `least` people. In every cell each secret is as likely as overall, within epsilon. Cells do not overlap: each record
  is in one.
cells: The mechanism that protect uses by default: records are sorted into cells, and for each record its cell is
  written. Nothing is drawn, so every statement is true, the bound holds for the file itself, and anyone who has the
  original can recompute it. cells+mix makes finer cells and swaps some of them at random.
certainty: How sure an adversary is of its own record: the leakage of that record if all of it were true. It can
  be computed without knowing the truth, so the adversary uses it to choose what to verify next.
certificate: A claim about a release, the assumptions it rests on, and fingerprints of the data: certificate.json.
  `tacit verify` recomputes it.
channel: P(Y given X): the probability with which each value is released as each other, or as itself. Rows sum to one. A
  release in which something was drawn publishes it (channel.json), with values that few people have merged into one.
cluster: Records that an adversary takes to be one person's. The merge policy decides what it writes down for them.
code: The map from records to cells: levels.json in a release. Anyone who has it and the original can make the release
  again.
completeness: For a record taken at its word: the share of the reference it holds, by weight. Recall is the same with
  confidences, in expectation.
confidence: The probability that a claim is true of the population from which the records are a random sample. One part
  of the records chooses which cells or values to keep, the other proves the choice. It holds if you ask once: if you
  ask again until you like the answer, you have no proof. For an attribute of a record: how sure its holder is of it,
  from 0 to 1: the confidences of the source, the column and the row, multiplied.
contribution: For an attribute: the leakage of the record minus its leakage without the attribute; negative if the
  attribute is wrong. For a source: the leakage minus what remains once the source is gone and everything else is
  resolved again. Contributions do not add up to the leakage.
corrected counts: How many records of the original had each value, estimated from a drawn release: every row adds the
  weights that undo the channel on average. Unbiased, with the standard error of the draw.
correctness: For a record taken at its word: the share of it that is true, by weight. Precision is the same with
  confidences, in expectation.
correlated labels: Labels that partly say the same, such as an address and its zip code: the weight they share counts
  once.
decoy: A false record that an adversary would merge with the person's, which makes what it holds less accurate. Only
  labels you name may be false, and every plan is resolved and measured again under every adversary. It is not for
  giving false data to banks, insurers or authorities.
delta: The largest probability, over pairs of secret and record, with which the bound epsilon may fail. With delta above
  0, the share of records that breach epsilon for some secret can be far larger (the certificate's breach_share), and
  merging values afterwards may raise delta. Another kind of delta has no such weakness: see delta_kind.
delta_kind: What delta counts. mass, the default: the probability of pairs of secret and record beyond epsilon,
  however far. egamma: by how much they exceed it, in all.
dipping: Asking with a query: everything an adversary holds that ends up in one cluster with it.
effort: How hard protect looks for the best mechanism: low, normal or high. It affects how close the loss comes to
  loss_bound, never what is guaranteed.
egamma: The kind of delta that adds up by how much probabilities exceed what epsilon allows, on both sides. A pair just
  beyond epsilon costs next to nothing; a secret that is ruled out costs its whole probability. Nothing done to the
  release later can raise the sum.
epsilon: The bound on the absolute log-lift, in nats. At epsilon 0.5, seeing a record changes the probability of any
  secret by a factor between 0.606 and 1.65. It is not the epsilon of differential privacy.
epsilon_high: The bound on how much likelier a secret may become: its probability never grows by more than a factor of
  e^epsilon_high. Given alone, it bounds pointwise maximal leakage.
epsilon_low: The bound on how much less likely a secret may become: its probability never falls by more than a factor
  of e^epsilon_low. If only epsilon_high is given, there is no such bound, and a secret may be ruled out.
epsilon_max: With delta above 0: the bound that must always hold.
estimator: How log-lift is found. `counts` counts every released value, exactly for the table. The others (auto, linear,
  trees, net, neural) learn it from the records with their columns uncut, where values are nearly unique and counting
  fails. What is learned is an estimate: it certifies nothing pointwise.
fix-point: Where resolving ends: records are joined, and joined records matched again, until nothing matches. It does
  not depend on the order of the records (R-Swoosh). closure: components stops after the first round.
incremental leakage: For a record about to be given away: the leakage once it is out, with all records resolved again,
  minus the leakage now. It may be negative, if the record brings errors with it.
joint: P(S, X): how often each secret occurs together with each released value.
k-anonymity: k is how many people in a table share the values used to look somebody up. It is about one table and says
  how large the crowd is; leakage is about all sources joined and says how much is known. Neither implies the other, so
  both are shown.
kept: For a release: how much of the original table's information a reader still has. For a column: the share of its
  entropy that a released row shows, minus what shuffled rows would show. A value is kept if every record that has it is
  released unchanged; other records can come out unchanged by chance: see rows unchanged.
known: Columns whose true values somebody may already know about a person. The bound is then on what the release adds to
  them: log P(s|v,c) / P(s|v), the conditional log-lift, with v as the release writes it. What they reveal on their own
  is not bounded.
l-diversity: How many different sensitive values occur in a crowd of k. A crowd of 100 who all have the same illness
  hides nobody's illness.
label: The kind of a value: phone, dob, card. A label has a weight and a normal form, and says how near misses and
  suppressed values count.
ladder: Several adversaries, from the weakest to the strongest, each with its leakage, precision, recall and cost.
leakage: For a joint: the number that a measure gives. For a person: how much of the reference an adversary has pieced
  together, from 0 (nothing) to 1 (all of it, with certainty, and nothing wrong): the largest leakage of any record it
  ends up with. It is a mean of precision and recall, not a share and not a probability.
least: How many people should share every released value, all released columns taken together; 10 by default. Where
  fewer do, the claim does not hold for the whole file.
ledger: The owner's file with the rules of every release about the same people. From it protect works out what all of
  them reveal together. It is not published.
level: How finely a column is written: day, month or year; 0117*, 011** or 01***; ranges of a number; groups of words. A
  cut is made between levels. "any" says nothing.
log_lift: i(s,x) = log P(s,x) / (P(s) P(x)), in nats; also called information density. How much seeing x changes the
  probability of s: 0 not at all, 0.69 doubles it, -0.69 halves it, -inf rules s out.
loss_bound: For a release: no mechanism within the same bounds, known or not, loses a smaller share of the information
  (nmil). If it equals the loss, the release is the best there is; 0 means that nothing is known.
mechanism: What makes a release from a joint and its bounds. cells, the default, writes ranges and groups that several
  people share; cells+mix mixes finer ones. The others work on the values themselves: watchdog merges one set, subsets
  several, and optimal mixes them as little as the bounds allow; each of these loses at most what the one before it
  loses.
merge policy: What an adversary writes down for the records of one person. union: everything, each value with its best
  confidence (as in the paper). consensus: for a label with one true value, only the commonest. vote: those values,
  weighted by their votes. diluted: every value with its mean confidence.
mixture: A release in which some values are swapped for others at random, with probabilities that bring every released
  value within epsilon. A released value occurs in the table, but stands for several: the record that carries it may
  have had another. Values that are harmless on their own are often left alone.
near: A value that is not right but not far off: a birthday a week away, a name with a letter missing. It gets part of
  the credit, if the label has a similarity.
nmil: Normalised mutual information loss: the share of the information in the released columns that is lost, between 0
  (nothing changed) and 1 (everything merged into one).
null band: What a measure shows when the secrets are shuffled among the records and there is nothing to find: its 5th to
  95th percentile. A measure inside its band says nothing.
optimal: The mechanism that loses the least information of all that keep the bounds, as far as it could be found:
  loss_bound says how far from the best it can be. Its release is a mixture.
plug-in: Computed as if the table were the whole population. Exact for the table; for a larger population, an estimate
  that is biased upwards.
policy: What tables and releases must meet before they may be passed on: the epsilon of each secret, the fewest people,
  what may be known, which columns and mechanisms are allowed. `tacit check` reads it from a TOML file.
possible world: A record with confidences stands for many records, each with a probability: every attribute is there or
  not. Record leakage is the mean over all of them.
prior: P(s): what the adversary believes before it sees a record. For a label in a person's case: how common each of its
  values is; rare values then weigh more (surprisal).
reading: How a certificate may be read. Row by row: somebody sees one record and knows nothing else about the person. As
  a whole file: see whole file. If the table is the population, the claim is exact; if it is a sample, the claim about
  the population is proved with a stated confidence, or not proved.
record: One row about one person. In a person's case: what one source holds about somebody, as labels, values and
  confidences; a label may have several values, and there is no fixed list of labels.
record leakage: How much a record gives away about a person: the mean over its possible worlds of the F-measure of what
  it says against the reference, 2 x (weight of what is right) / (weight of the record + weight of the reference).
reference: The whole truth about a person, as labels and values, against which records are measured. Without one there
  is no leakage.
release: A directory with the data, certificate.json and report.html; its private/ is for the owner only. In a person's
  case: something the person is about to give away, in one of several ways (options).
released: The columns the adversary sees (X), or what a mechanism makes of them (Y).
replacement: What replaces a merged value: resample (a value drawn like the merged ones; keeps every column's
  frequencies), uniform, merge (the commonest of them) or suppress (nothing). None of them looks at the value replaced,
  so none reveals more than that the record was merged. Naming one selects the watchdog.
resolve: To find the records that belong to one person: by rules (an OR of ANDs of labels that must agree), by a trained
  Splink model, or by clusters made elsewhere.
risk: For a value or record: the largest |log_lift| over the secrets. Higher is riskier. Infinite if the value rules a
  secret out, or gives it away.
rows unchanged: The expected share of records that come out as they went in: rows_unchanged in the certificate, Kept in
  the output. In a mixture only the owner can tell which they are.
safe_set: The released values whose risk is at most epsilon; the others are the risky_set.
secret: The column(s) that must not be learned (S). If only some values of a column are named, all others count as one.
shares off by: For a column of a release: how far the shares of its values, as a reader works them out from the release
  (tacit.read), are from the true ones: half the sum of the differences, over coarse groups of its values (total
  variation). 0% if they are right; at 20%, one record in five is counted in the wrong group. It is about counting, kept
  is about what a row says.
similarity: How much credit a nearly true value gets, between 0 and 1. Without one, a value is right or wrong.
source: Where records are held: a shop's file, a broker, a forum, a list of breaches. It may have a confidence, and say
  what removal costs and how likely it is.
subsets: The mechanism that merges several sets of values, each into one value, where the watchdog merges one set. It
  draws nothing, and loses at most as much as the watchdog and at least as much as optimal.
suppressed value: A value that covers the true one without stating it: 11*, >=50, [20-30). By default it counts as the
  truth (as in the paper); with `suppressed: size` or `prior` its confidence is divided among what it covers.
surprisal: -log2 of how common a value is, in bits. With a prior, a label's values are weighted by it: a rare surname
  counts for more than a common one. It is the largest log-lift the value can have.
thresholds: For a secret that is a number: the share of all records that an event "at most t" or "more than t" must
  cover to be bounded. Every such event is bounded, whatever t. Narrower ones are not: a single value, a range, a
  smaller tail.
use: Columns that readers of the release want to predict or count. What helps to predict them is kept first, and the
  answer says how well models trained on the release predict them in the original records: the mean of the best over
  several readers, who each fill the release in by chance, and the range of all.
utility: What the honest reader keeps: I(X;Y), the information that the release holds about the original columns.
watchdog: The mechanism that leaves the safe set unchanged and replaces every risky value by a draw that does not look
  at it. All merged values then share one log-lift, that of the merged set. If that is within epsilon, so is the
  release; Tacit computes it on the output and never assumes it.
weight: For a label: how much it matters to the person. Only ratios count. It has nothing to do with the weight of a
  record, the column of a table that says how many people a record stands for.
whole file: The reading of a claim in which somebody sees the whole release and looks for a person whose values they
  know. A released value that may have been drawn at random is still a value of the table, and shows that a person with
  it exists: it belongs to those who truly have it. One that is written for several belongs to all of them. The claim
  holds for the whole file if every released value belongs to at least `least` people.
"""

TERMS = {
    term: " ".join(text.split())
    for term, text in (entry.split(": ", 1) for entry in re.split(r"\n(?=\S)", _TERMS.strip()))
}


def explain(name: str | None = None) -> str:
    """The explanation of one name, or the list of all names."""
    if name is None:
        return "Terms:    " + ", ".join(TERMS) + "\nMeasures: " + ", ".join(MEASURES)
    key = "_".join(name.lower().replace("-", " ").replace("_", " ").split())
    if key in MEASURES:
        measure = MEASURES[key]
        term = f"\n\n{TERMS[key]}" if key in TERMS else ""
        return f"{measure.title} ({measure.unit})\n  {measure.formula}\n\n{measure.meaning}{term}"
    for term, text in TERMS.items():
        if term.replace(" ", "_").replace("-", "_") == key:
            return f"{term}\n\n{text}"
    near = get_close_matches(key, [*TERMS, *MEASURES], n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    raise ArgumentError(f"nothing is called '{name}'{hint} 'tacit explain' lists all names")
