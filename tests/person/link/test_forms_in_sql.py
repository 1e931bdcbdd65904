"""Normal forms and bounds in SQL against those in Python, which are slow and right."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sizes import few, many
from tacit.person.link.forms.bounds import may_be_right
from tacit.person.link.forms.near import BOUNDS, CAPS, KEYED, near_keys
from tacit.person.link.forms.normal import sql_fixed, sql_form
from tacit.person.model.forms import normaliser
from tacit.person.model.kinds import KINDS
from tacit.person.model.values import is_suppressed, similarity
from tacit.tables.engines import Store, store_on

sys.path.insert(0, str(Path(__file__).parents[1] / "model"))
from test_person_formats import FORMATS

PIECES = {
    "name": "xx XXX 1 alice Archer dr Mr. van o'neil MUELLER , - phd m jr é ` 1 aee prof Łukasz SØREN ß ma ae Mü "
    "üe u\u0308 张伟 Joel",
    "email": "a b.c +x @ ...@ xx (x) %40 at [at] dot gmail.com googlemail.com X.org . < > mailto: - % "
    "zoë@x.org a+b@gmail.com ß İ",
    "date": "XX xx II iv 1 12 31 02 1990 90 apr April - / . 21 2024 may of st T00:00 20240131 03/04/1990 3.4.1990 "
    "12/31/1990 1, "
    "21041936 4211936 мая dubna 1036800000",
    "address": "XX xxx 12 Main street Str hauptstr , . # no nr. apt 4b fl / flat ' straat 5/3 north straße number",
    "code": "a B 1 - / * ß ( ) xx XXX 12 ending in",
    "zip": "02138 2138 213 -1234 1 sw1a 1AA .0 - 021381234 ( ß",
    "text": "xx XX… • nds in a B 1 - * ß ( ) [ < { } >=5",
    "place": "st St. Saint gallen Sankt muenchen München oe ue aeo , ( - London UK İ Москва ß 12 XX",
    "company": "ACME inc Inc. s.p.a. GmbH & Co. KG zoo , ( - AG as a s Müller sp z o.o. xx XX-1",
    "gender": "F f. m Male female weiblich männlich x div. * ( - nonbinary",
    "username": "@ jsmith J.Smith https:// www. x.org/ in/ u/ / ? # @x _ - twitter.com/ xx ...@",
    "digits": "a 1 22 - / * ² ( )",
    "phone": "xx xxx (privat) 0 00 + 1 49 160 1234567 ( ) - / x ext. 555 tel: 123 0160 (555) +49 +44 20 4155552671.0",
}


@pytest.fixture(scope="module")
def store() -> Store:
    return store_on("duckdb")


def agrees(store: Store, name: str, country: str | None, values: list[str]) -> int:
    """Check SQL against Python; gives of how many values SQL was sure."""
    table = store.load(pa.table({"value": pa.array(list(dict.fromkeys(values)), pa.string())}))
    query = sql_form(store, f"SELECT value FROM {table}", name, country)
    rows = store.ask(f"SELECT value, form, {sql_fixed(store, name)} AS fixed FROM ({query}) WHERE form IS NOT NULL")
    store.drop(table)
    form = normaliser(name, country=country)
    for row in rows.to_pylist():
        assert not is_suppressed(row["value"])
        assert row["form"] == form(row["value"])
        assert not row["fixed"] or form(row["form"]) == row["form"]
    return rows.num_rows


@pytest.mark.parametrize(
    "kind", ["name", "date", "phone", "email", "address", "zip", "place", "company", "gender", "username"]
)
def test_sql_reads_the_table_of_formats_as_python_does(store: Store, kind: str) -> None:
    rows = [row for row in FORMATS if row[0] == kind]
    for country in {row[1] for row in rows}:
        values = [text for row in rows if row[1] == country for text in row[2:4]]
        assert agrees(store, kind, country, values) >= len(values) // 6


@pytest.mark.parametrize("form", [*PIECES, "date-day-first", "date-month-first"])
def test_sql_is_sure_only_where_python_agrees(store: Store, form: str) -> None:
    chance, pieces = random.Random(form), PIECES[form.split("-")[0]].split()
    values = [
        "".join(chance.choice(pieces) + " " * (chance.random() < 0.4) for _ in range(chance.randint(1, 6)))
        for _ in range(many(400, 8_000))
    ]
    agrees(store, form, None, values)
    if form == "zip":
        agrees(store, form, "US", values)
        agrees(store, form, "DE", values)


@pytest.mark.parametrize("form", list(PIECES))
@settings(max_examples=many(2, 300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(st.text(max_size=20), max_size=30))
def test_sql_is_never_wrong_about_any_text(store: Store, form: str, values: list[str]) -> None:
    agrees(store, form, None, [value.replace("\x00", "") for value in values])


@pytest.mark.parametrize(
    "country", few(["DE", "US", "GB", "FR", "IT", "ES", "JP", "AU", "RU", "IN", "BR", "CA", "KZ", "SE"], 5)
)
def test_sql_dials_as_python_does(store: Store, country: str) -> None:
    import phonenumbers

    chance, code = random.Random(country), str(phonenumbers.country_code_for_region(country))
    before = ["", "0", "1", "00", "+", f"+{code}", code, f"+{code}0", "+1", "(0", "8", f"00{code}", "tel:+"]
    values = [
        chance.choice(before) + "".join(chance.choice("0123456789") for _ in range(chance.randint(4, 12)))
        for _ in range(many(300, 5_000))
    ]
    values += [value + " ext. 12" for value in values[::10]]
    assert agrees(store, "phone", country, values) > len(values) // 4


TRUE = {
    "name": [
        "alice archer",
        "archer",
        "juan de la cruz",
        "a m archer",
        "maria garcia lopez",
        "juergen mueller",
        "张伟",
    ],
    "date": ["1990-04-03", "1990", "no day"],
    "phone": ["+491601234567", "01601234567", "+491601234567x2", ""],
    "code": ["ab12345", "aliceq@gmail.com", "ab"],
    "email": ["aliceq@gmail.com", "jo@x.org"],
    "zip": ["02138", "2138", "sw1a1aa"],
    "address": ["main st 12", "hauptst 5", "st"],
    "jaro_winkler": ["alice", ""],
}
MORE = {
    "name": [
        "bob archer",
        "archer alice",
        "alice acher",
        "cruz juan",
        "juan delacruz",
        "alice",
        "liz",
        "m a archer",
        "maria garcia",
        "lopez maria g",
        "jurgen muller",
        "zhang wei",
        "章伟",
        "ivan maria lopez garcia",
        "archer a m",
    ],
    "date": ["1990-03-04", "1890-04-03", "03/04/1990", "03/04/90", "1991-04-03"],
    "phone": ["1234567", "+491601234576", "0001234567", "491601234567", "+", "++491601234567"],
    "code": ["ab12354", "b12345", "aab12345"],
    "email": ["aliceg@gmail.com", "jo@x.or", "bo@x.org"],
    "zip": ["2138", "002138", "sw1a1a"],
    "address": [
        "mian st 12",
        "12 main",
        "st main 12",
        "main st 12 apt 4",
        "haupt st 5",
        "main st 12 cambridge massachusetts 02138 united states of america",
    ],
    "jaro_winkler": ["alicia", "lice"],
}


def mistyped(chance: random.Random, text: str) -> str:
    signs = list(text)
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        at = chance.randrange(len(signs) + 1)
        way = chance.random()
        if way < 0.4:
            signs.insert(at, chance.choice("abc123 "))
        elif signs and way < 0.7:
            del signs[at % len(signs)]
        elif len(signs) > 1:
            at %= len(signs) - 1
            signs[at], signs[at + 1] = signs[at + 1], signs[at]
    return " ".join("".join(signs).split())


@pytest.mark.parametrize("near", list(TRUE))
def test_nothing_worth_a_credit_is_outside_the_bound(store: Store, near: str) -> None:
    chance, credit = random.Random(near), similarity(near)
    credited = 0
    for true in TRUE[near]:
        forms = list({mistyped(chance, text) for text in [*TRUE[near], *MORE[near]] for _ in range(many(12, 300))})
        table = store.load(pa.table({"form": pa.array(forms, pa.string())}))
        within = set(
            store.ask(f"SELECT form FROM {table} WHERE {may_be_right(store, near, [true])}")["form"].to_pylist()
        )
        store.drop(table)
        worth = {form for form in forms if credit(form, true) > 0}
        assert worth <= within
        credited += len(worth)
    assert credited > 5


@pytest.mark.parametrize("near", [near for near in TRUE if near in CAPS])
def test_nothing_of_a_population_worth_a_credit_is_missed_or_above_its_cap(store: Store, near: str) -> None:
    chance, credit = random.Random(near), similarity(near)
    texts = [*TRUE[near], *MORE[near]]
    forms = sorted({mistyped(chance, text) for text in texts for _ in range(many(12, 300))} | set(texts))
    pairs = [(form, true) for form in forms for true in TRUE[near] if form != true and credit(form, true) > 0]
    assert len(pairs) > 5
    assert max(credit(form, true) for form, true in pairs) <= CAPS[near]
    held, true = (pa.array(column, pa.string()) for column in zip(*pairs, strict=True))
    table = store.load(pa.table({"meant": held, "actual": true}))
    keyed = f"list_has_any({near_keys(near, 'meant')}, {near_keys(near, 'actual')})" if near in KEYED else "true"
    missed = store.ask(f"SELECT * FROM {table} WHERE NOT (({BOUNDS.get(near, 'true')}) AND {keyed})")
    store.drop(table)
    assert missed.to_pylist() == []


def test_what_is_nearly_right_of_a_kind_has_a_cap() -> None:
    assert {kind.near for kind, _ in KINDS.values() if kind.near} <= set(CAPS)


def test_digits_that_are_left_out_wherever_they_stand_first_are_not_a_fixed_form(store: Store) -> None:
    assert agrees(store, "phone", "AU", ["0183236573", "+61 0183236573", "0412 345 678"]) > 0
