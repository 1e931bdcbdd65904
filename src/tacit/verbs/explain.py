"""``explain``: a term, measure or mechanism in plain words, with its definition and its guarantee."""

from __future__ import annotations

import re
from difflib import get_close_matches

from tacit.errors import ArgumentError
from tacit.lift import MEASURES

# A term and what it means; what goes on is indented.
_TERMS = """
adversary: Whoever tries to learn the secret from the release. It knows how the release was made and the shares of
  every value; it sees one record. Of a person's case: whoever has the records of all sources, as a list of steps
  (normalise, correct, augment, resolve), a merge policy and a cost.
attribute: One thing that a record says of a person: a label, a value and a confidence.
calibration: Whether predicted log-lifts come true: records are grouped by what was predicted for them, by models that
  had not seen them, and the log-lift observed in each group is laid beside it with exact binomial limits.
camouflage: Merging some safe values together with the risky ones, where the risky ones alone still tilt towards a
  secret. It costs a little utility and is used only when the plain watchdog cannot reach epsilon.
case: A YAML file about one person: the truth, the labels, the sources, the adversaries and the questions. `tacit
  person init` writes one with comments.
cell: What a record is released as: ranges and groups of values, one for each column, that hold for the record and for
  at least `least` people. In every cell each secret is about as likely as overall, within epsilon. Cells do not
  overlap: each record is in one.
cells: The mechanism that protect uses unless told otherwise: columns are cut into cells, and of each record its cell is
  written. Nothing is drawn, so every statement is true, the bound holds for the file itself, and whoever has the
  original can compute it again. cells+mix makes finer cells and swaps some of them at random.
certainty: How sure an adversary is of its own record: the leakage of that record against itself without doubts. The
  adversary can compute it without knowing the truth, so it is what it looks at when it chooses what to verify next.
certificate: A claim about a release, the assumptions it rests on, and fingerprints of the data: certificate.json.
  `tacit verify` recomputes it.
channel: P(Y given X): with which probability each released value is replaced by which. Rows sum to one. A release in
  which something was drawn publishes it (channel.json), with values that few people have as one.
cluster: Records that an adversary takes for one person's. What it writes down for them is a merge policy's work.
code: The map from records to cells: levels.json in a release. Whoever has it and the original makes the release again.
completeness: Of a record, taken at its word: which share of the reference it holds, by weight. Recall is the same
  with confidences, in expectation.
confidence: The probability with which a claim is true of the people that the records are a random sample of. One part
  of the records chooses which cells or values to keep, the other proves the choice. It holds if it is asked once: who
  asks again until it pleases has no proof. Of an attribute of a record: how sure its holder is of it, from 0 to 1:
  that of the source, of the column and of the row, multiplied.
contribution: Of an attribute: the leakage of the record less its leakage without the attribute; negative if the
  attribute is wrong. Of a source: the leakage less what is left once the source is gone and all else is resolved
  again. Contributions do not add up to the leakage.
corrected counts: How many records of the original had each value, from a drawn release: every row adds the weights
  that undo the channel on average. Unbiased, with the standard error of the draw.
correctness: Of a record, taken at its word: which share of it is true, by weight. Precision is the same with
  confidences, in expectation.
correlated labels: Labels that tell something in common, such as an address and its zip code: the weight they share
  counts once.
decoy: A false record that an adversary would merge with the person's, so that what it holds is less right. Only
  labels that were named may be false, every plan is resolved and measured again under every adversary, and false data
  to banks, insurers or authorities is not what it is for.
delta: The probability, over pairs of secret and record, with which the bound epsilon may fail. With delta above 0 the
  share of records that breach epsilon for some secret can be far larger (the certificate's breach_share), and merging
  values afterwards may raise delta. Another kind of delta has no such weakness: see delta_kind.
delta_kind: What delta counts. mass, the default: the probability of pairs of secret and record beyond epsilon,
  however far they are. egamma: by how much they are beyond it, in all.
dipping: Asking with a query: everything an adversary holds that ends up in one cluster with it.
effort: How hard protect looks for the best mechanism: low, normal or high. It changes how close the loss comes to
  loss_bound, never what is guaranteed.
egamma: The kind of delta that adds up by how much probabilities exceed what epsilon allows, on both sides. A pair
  just beyond epsilon costs next to nothing, a secret that is ruled out its whole probability, and nothing that is
  done to the release later can raise the sum.
epsilon: The bound on the absolute log-lift, in nats. At epsilon 0.5 seeing a record changes the probability of any
  secret by a factor between 0.61 and 1.65. It is not the epsilon of differential privacy.
epsilon_high: The bound on how much likelier a secret may become: its probability never grows by more than a factor of
  e^epsilon_high. Alone, it bounds pointwise maximal leakage.
epsilon_low: The bound on how much less likely a secret may become: its probability never falls by more than a factor
  of e^epsilon_low. Where only epsilon_high is given there is no such bound, and a secret may be ruled out.
epsilon_max: With delta above 0: the bound that may never be broken.
estimator: How log-lift is found. `counts` counts every released value, exact for the table. The others (auto, linear,
  trees, net, neural) learn it from the records with their columns uncut, where values are nearly unique and counting
  fails. What was learned is an estimate: it certifies nothing pointwise.
fix-point: What resolving ends in: records are joined, joined records are matched again, until nothing matches. It
  does not depend on the order of the records (R-Swoosh). closure: components stops after the first round.
incremental leakage: Of a record about to be given away: the leakage once it is out, all records resolved again, less
  the leakage now. It may be negative, if the record brings errors along.
joint: P(S, X): how often each secret occurs together with each released value.
k-anonymity: k is how many persons of a table share the values by which somebody is looked for. It is about one table
  and says how large the crowd is; leakage is about all sources joined and says how much is known. Neither implies the
  other, so both are shown.
kept: Of a release: the information that a reader still has of the table as it was given. Of a column, the share of its
  entropy that a released row tells, less what shuffled rows would tell. A value is kept if every record that has it is
  released as it is; records can come out as they were without that, by chance: see rows unchanged.
known: Columns whose true values somebody may know of a person already. The bound is then on what the release adds to
  them: log P(s|v,c) / P(s|v), the conditional log-lift, for v as the release tells it. What they say by themselves is
  not bounded.
l-diversity: How many different sensitive values occur in a crowd of k. A crowd of 100 that all have the same illness
  hides nobody's illness.
label: The kind of a value: phone, dob, card. A label has a weight, a normal form, and says how near misses and
  suppressed values count.
ladder: Several adversaries, from the weakest to the strongest, each with its leakage, precision, recall and cost.
leakage: Of a joint: the number that a measure gives. Of a person: how much of the reference an adversary has pieced
  together, from 0 (nothing) to 1 (all of it, surely, and nothing wrong): the largest record leakage of any record it
  ends up with. It is a mean of precision and recall, not a share and not a probability.
least: How many people should share every released value, all released columns taken together; 10 unless another number
  is asked for. Where fewer do, the claim does not hold for the whole file.
ledger: A file of the owner that holds the rules of every release of the same people, so that protect can tell what
  all of them say together. It is not published.
level: A step at which a column can be told: day, month or year; 0117*, 011** or 01***; ranges of a number; groups of
  words. A cut is made between levels. "any" tells nothing.
log_lift: i(s,x) = log P(s,x) / (P(s) P(x)), in nats; also called information density. How much seeing x changes the
  probability of s: 0 not at all, 0.69 doubles it, -0.69 halves it, -inf rules s out.
loss_bound: Of a release: no mechanism within the same bounds, known or not, loses a smaller share of the information
  (nmil). Where it equals the loss, the release is the best there is; 0 says that nothing is known.
mechanism: What makes a release from a joint and its bounds. cells, the default, writes ranges and groups that several
  people share; cells+mix mixes finer ones. Of the values as they are, watchdog merges one set, subsets several, and
  optimal mixes them as little as the bounds allow; each of these loses at most what the one before it loses.
merge policy: What an adversary writes down for records of one person. union: everything, each value with its best
  confidence (the paper's). consensus: of a label with one true value only the commonest. vote: those values weighed
  by their votes. diluted: every value with its mean confidence.
mixture: A release in which some values are swapped for others by chance, with probabilities chosen so that every
  value that comes out is within epsilon. A released value is one of the table's, but stands for several: the record
  that carries it may have had another. Values that are harmless on their own are often left alone.
near: A value that is not right and not far off: a birthday a week away, a name with a letter missing. It has part of
  the credit, if the label has a similarity.
nmil: Normalised mutual information loss: which share of the information in the released columns is lost, between 0
  (nothing changed) and 1 (everything merged into one).
null band: What a measure shows when the secrets are shuffled among the records, so that there is nothing to find: its
  5th to 95th percentile. A measure inside its band says nothing.
optimal: The mechanism that loses the least information of all that keep the bounds, as far as it could be found:
  loss_bound tells how far from the best it can be. Its release is a mixture.
plug-in: Computed as if the table were the whole population. Exact for the table; an estimate, biased upwards, for a
  larger population.
policy: What tables and releases must keep before they may go on: the epsilon of each secret, the fewest people, what
  may be known, which columns and mechanisms. `tacit check` reads it from a TOML file.
possible world: A record with confidences is many records, each with a probability: every attribute is there or not.
  Record leakage is the mean over all of them.
prior: P(s): what the adversary believes before it sees a record. Of a label in a person's case: how common each of
  its values is, so that rare values weigh more (surprisal).
reading: How a certificate may be read. Row by row: somebody sees one record and knows nothing else of the person. As a
  whole file: see whole file. And if the table is the population, the claim is exact; if it is a sample of a larger one,
  the claim is proved of that with a stated confidence, or not proved.
record: One row about one person. In a person's case: what one source holds of somebody, as labels, values and
  confidences; a label may have several values, and there is no fixed list of labels.
record leakage: How much a record gives away of a person: the mean over its possible worlds of the F-measure of what
  it says against the reference, 2 x (weight of what is right) / (weight of the record + weight of the reference).
reference: The whole truth about a person, as labels and values: what records are measured against. There is no
  leakage without one.
release: A directory with the data, certificate.json and report.html; private/ in it is for the owner alone. In a
  person's case: something the person is about to give away, in one of several ways (options).
released: The columns the adversary sees (X), or what a mechanism makes of them (Y).
replacement: What takes the place of a merged value: resample (a value drawn like the merged ones; keeps every
  column's frequencies), uniform, merge (the commonest of them) or suppress (nothing). None of them looks at the value
  replaced, so none tells anything beyond that the record was merged. Naming one asks for the watchdog.
resolve: To find the records that are one person's: by rules (an OR of ANDs of labels that must agree), by a trained
  Splink model, or by clusters brought from elsewhere.
risk: Of a value or record: the largest |log_lift| over the secrets. Higher is riskier. Infinite if the value rules a
  secret out, or gives it away.
rows unchanged: The share of records that come out as they went in, as expected over the draws: rows_unchanged in the
  certificate, Kept in the output. In a mixture nobody but the owner can tell which they are.
safe_set: The released values whose risk is at most epsilon; the others are the risky_set.
secret: The column(s) that must not be learned (S). If only some values of a column are named, all others count as one.
similarity: How much credit a value gets that is nearly the true one, between 0 and 1. Without one a value is right or
  wrong.
source: Where records are: a file of a shop, a broker, a forum, a list of breaches. It may have a confidence, and say
  what removal costs and how likely it is.
subsets: The mechanism that merges several sets of values, each into one value, where the watchdog merges one set. It
  draws nothing, and loses at most as much as the watchdog and at least as much as optimal.
suppressed value: A value that covers the true one without being it: 11*, >=50, [20-30). By default it counts as the
  truth (as in the paper); with `suppressed: size` or `prior` its confidence is divided among what it covers.
surprisal: -log2 of how common a value is, in bits. With a prior a label's values weigh by it, so that a rare surname
  counts for more than a common one. It is the largest log-lift the value can have.
thresholds: Of a secret that is a number: the share of all that an event "at most t" or "more than t" must hold to be
  bounded. Every such event is, whatever t. Narrower ones are not: a single value, a range, a smaller tail.
use: Columns that readers of the release want to predict or count. What tells about them is kept first, and the answer
  says how well a model that was trained on the release predicts them in records as they were given.
utility: What the honest reader keeps: I(X;Y), the information that the release has about the original columns.
watchdog: The mechanism that shows the safe set as it is and replaces every risky value by a draw that does not look
  at it. All merged values then have one log-lift, that of the merged set. If that is within epsilon, the release is;
  Tacit computes it on the output and never assumes it.
weight: Of a label: how much it matters to the person. Only ratios count. It has nothing to do with the weight of a
  record, the column of a table that says for how many people a record stands.
whole file: The reading of a claim in which somebody sees all of the release and looks for a person whose values they
  know. A released value that chance may have put there is a value of the table, and tells that a person with it exists:
  it belongs to those who truly have it. One that is written for several belongs to all of them. The claim holds for
  the whole file if every released value belongs to at least `least` people.
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
