"""Good inputs of every kind, each in a folder of its own with what is needed to ask about it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from excel_files import write_workbook
from splink_models import write_splink_model
from tables_of_people import clinic, write_csv

# Stands in cells of every table, and in what is known of a person: no message may tell it.
MARKER = "ZQXSECRET"
ROWS = 48


def people() -> dict[str, list[Any]]:
    """A small clinic with numbers, days, and in one column the marker."""
    columns = clinic(ROWS)
    rng = np.random.default_rng(1)
    columns["ward"] = [f"{MARKER}{value}" for value in columns["ward"]]
    columns["born"] = [f"19{year:02}-0{1 + year % 9}-11" for year in rng.integers(40, 99, ROWS)]
    columns["income"] = rng.integers(900, 1900, ROWS).tolist()
    return columns


def make_seeds(place: Path) -> None:
    """Write every folder of good inputs."""
    place.mkdir(parents=True, exist_ok=True)
    for make in (_tables, _releases, _models, _posts, _images, _case, _files, _options):
        make(place)


def _box(place: Path, name: str) -> Path:
    folder = place / name
    folder.mkdir()
    return folder


def _tables(place: Path) -> None:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = people()
    write_csv(_box(place, "csv") / "p.csv", columns)
    write_csv(_box(place, "tsv") / "p.tsv", columns, delimiter="\t")
    table = pa.table(columns)
    pq.write_table(table, _box(place, "parquet") / "p.parquet")
    pq.write_table(table, _box(place, "plain_parquet") / "p.parquet", compression="none", use_dictionary=False)
    sheet = [list(columns), *(list(row.values()) for row in table.to_pylist())]
    write_workbook(_box(place, "excel") / "p.xlsx", {"People": sheet}, packed=False)
    rows = [json.dumps(row) for row in table.to_pylist()]
    (_box(place, "jsonl") / "p.jsonl").write_text("\n".join(rows) + "\n")
    packed = pa.ipc.IpcWriteOptions(compression="lz4")
    for name, open_writer, options in (
        ("p.arrow", pa.ipc.new_file, None),
        ("s.arrow", pa.ipc.new_stream, None),
        ("p.feather", pa.ipc.new_file, packed),
    ):
        encoded = table.set_column(2, "ward", table["ward"].dictionary_encode()) if name == "p.arrow" else table
        with (
            pa.OSFile(str(_box(place, name.replace(".", "_")) / name), "wb") as sink,
            open_writer(sink, encoded.schema, options=options) as writer,
        ):
            writer.write_table(encoded)
    with duckdb.connect(str(_box(place, "duckdb") / "p.duckdb")) as database:
        database.register("rows_of_people", table)
        database.execute("CREATE TABLE people AS SELECT * FROM rows_of_people")
    box = _box(place, "hierarchy")
    write_csv(box / "p.csv", columns)
    (box / "districts.csv").write_text("north,up,all\nsouth,down,all\neast,down,all\n")


def _releases(place: Path) -> None:
    """One release of every way to treat a table, with its original, and the ledger they stand in."""
    from tacit import protect

    for name, how in (
        ("cells", {"mechanism": "cells", "least": 5}),
        ("cells_mixed", {"mechanism": "cells+mix", "least": 5}),
        ("watchdog", {"mechanism": "watchdog", "released": ["age", "district"]}),
        ("optimal", {"mechanism": "optimal", "released": ["age", "ward"]}),
    ):
        box = _box(place, name)
        write_csv(box / "p.csv", people())
        protect(box / "p.csv", secret="illness", epsilon=0.5, out=box / "r", ledger=box / "ledger.json", **how)
    (place / "cells" / "tacit.toml").write_text(
        'secret = "illness"\nepsilon = 0.5\nleast = 5\nknown = ["age"]\ndrop = "income"\nmechanisms = ["cells"]\n'
        '[also]\n"ward,district" = 3.0\n[tables."r"]\nknown = ["ward"]\n[tables."*.csv"]\nepsilon_high = 1\n'
    )


def _models(place: Path) -> None:
    from tacit import audit

    box = _box(place, "model")
    write_csv(box / "p.csv", people())
    audit(box / "p.csv", secret="illness", estimator="linear", released=["age", "income"], save_model=box / "m.tacit")


def _posts(place: Path) -> None:
    from tacit import audit, protect

    rng = np.random.default_rng(0)
    said = [" ".join(rng.choice([f"word{k}" for k in range(20)], 6)) for _ in range(120)]
    party = rng.integers(0, 2, 120)
    texts = [f"{MARKER} {text} {('@left', '#tax')[side]}" for text, side in zip(said, party, strict=True)]
    columns = {"party": ["LR"[side] for side in party], "text": texts}
    box = _box(place, "words")
    audit(write_csv(box / "posts.csv", columns), text="text", secret="party", save_model=box / "m.tacit", min_count=2)
    protect(
        box / "posts.csv", text="text", secret="party", epsilon=0.5, min_count=2, out=box / "r", random_state=0
    )  # fmt: skip


def _images(place: Path) -> None:
    from PIL import Image

    from tacit import protect

    rng = np.random.default_rng(0)
    n = 40
    label = np.arange(n) % 2
    pixels = rng.integers(70, 150, (n, 8, 8)).astype(np.uint8)
    pixels[label == 1, 2:4, 2:4] += 40
    box = _box(place, "npz")
    np.savez_compressed(box / "faces.npz", images=pixels, smile=label)
    protect(box / "faces.npz", secret="smile", epsilon=0.5, patch=4, scale=8.0, out=box / "r", random_state=0)
    box = _box(place, "folder")
    (box / "faces").mkdir()
    for k in range(n):
        ending = "jpg" if k == 1 else "png"
        Image.fromarray(pixels[k]).save(box / "faces" / f"face{k:02}.{ending}")
    rows = [f"face{k:02}.{'jpg' if k == 1 else 'png'},{'no' if label[k] else 'yes'},{k % 3}" for k in range(n)]
    (box / "labels.csv").write_text("\n".join(["file,smile,glasses", *rows]) + "\n")
    protect(
        box / "faces", labels=box / "labels.csv", secret="smile", epsilon=0.5, patch=4, scale=8.0, out=box / "r",
        keep_label=["glasses"], random_state=0,
    )  # fmt: skip


def _case(place: Path) -> None:
    """The example with the marker in place of a family name, and an adversary with clusters and one with Splink."""
    from tacit.person.case.starting import EXAMPLE

    box = place / "case"
    shutil.copytree(EXAMPLE, box)
    for path in box.iterdir():
        path.write_text(path.read_text("utf-8").replace("Archer", MARKER).replace("Northgate Mills", MARKER), "utf-8")
    box = place / "linked"
    shutil.copytree(EXAMPLE, box)
    write_splink_model(box / "splink.json", ("name", "phone"))
    (box / "clusters.csv").write_text("source,record,cluster\nshop,1,x\nshop,2,x\nforum,1,y\n")
    (box / "case.yaml").write_text(
        f"person: {{name: {MARKER}, phone: 1}}\n"
        "sources:\n"
        "  - {name: shop, path: shop.csv, map: {full_name: name, tel: phone, '*': null}}\n"
        "  - {name: forum, path: forum.csv, map: {real_name: name, nick: phone, '*': null}}\n"
        "adversaries:\n"
        "  - {name: splink, steps: [{resolve: {splink: splink.json, threshold: 0.9}}]}\n"
        "  - {name: clusters, steps: [{resolve: {clusters: clusters.csv}}]}\n"
    )


def _files(place: Path) -> None:
    """A person's files of every form, each with a case of its own."""
    box = _box(place, "files")
    person = f"{MARKER} Archer"
    breach = {"Name": "Adobe", "DataClasses": ["Email addresses", "Phone numbers"], "IsVerified": True}
    rows = [
        {
            "name": {"first": MARKER, "last": "Archer"},
            "emails": [{"value": "a@x.org"}, {"value": "b@x.org"}],
            "dob": 30753,
        },
        {"name": {"first": "Bob"}, "phone": "0160 1234567 / 089 7654321", "country": "DE", "zip": "2138", "dob": 33218},
    ]
    entities = [
        {
            "id": "p1",
            "schema": "Person",
            "properties": {"name": [person], "addressEntity": ["a1"], "birthDate": ["1984"]},
        },
        {"id": "a1", "schema": "Address", "properties": {"full": ["12 Mill Lane"]}},
        {"id": "i1", "schema": "Passport", "properties": {"number": ["P1"], "holder": ["p1"]}},
    ]
    events = [
        {
            "event_type": "HUMAN_NAME",
            "module": "sfp_pgp",
            "source_data": "a@x.org",
            "false_positive": 0,
            "data": person,
        },
        {"event_type": "EMAILADDR_COMPROMISED", "module": "sfp_leak", "source_data": "x", "data": "a@x.org [Adobe]"},
    ]
    results = [{"Alias": "a", "DomainName": "x.org", "Breaches": [breach]}]
    for name, text in {
        "rows.json": json.dumps(rows),
        "facts.csv": f"record,label,value,confidence\n1,name,{person},0.5\n1,dob,21/04/1936,1\n2,dob,03041936,\n"
        "2,zip,021**,1\n",
        "cards.vcf": "BEGIN:VCARD\r\nVERSION:2.1\r\nN;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg;;;\r\n"
        "TEL;CELL:0160 1234567\r\nEND:VCARD\r\nBEGIN:VCARD\nVERSION:4.0\nitem1.EMAIL;TYPE=home:a@x\n .org\n"
        'TEL;VALUE=uri;TYPE="voice":tel:+44-20-7946-0018\nBDAY:19840312\nADR;TYPE=home:;;12 Mill Lane;A;;2138;\n'
        f"FN:{person}\nEND:VCARD\n",
        "contacts.csv": "First Name,Last Name,Birthday,E-mail 1 - Value,Phone 1 - Value,Address 1 - Postal Code\n"
        f"{MARKER},Archer,1984-03-12,a@x.org ::: b@x.org,4155552671.0,02138\n",
        "mails.mbox": "From a@x.org Mon Jan  1 00:00:00 2024\nFrom: =?utf-8?q?J=C3=B6rg?= <j@x.org>\n"
        f'To: {person} <a@x.org>,\n "Doe, Jane" <jane@x.org>\nSubject: {MARKER}\n\nbody\n\n'
        "From j@x.org Mon Jan  1 00:00:00 2024\nCc: a@x.org\n\nhello\n",
        "entities.json": "\n".join(map(json.dumps, entities)),
        "scan.csv": f"Updated,Type,Module,Source,F/P,Data\n2024-01-01,HUMAN_NAME,sfp_pgp,a@x.org,0,{person}\n",
        "scan.json": json.dumps(events),
        "harvest.json": json.dumps({"cmd": "x", "emails": ["a@x.org"], "linkedin_people": [f"{person} - CTO - Ox"]}),
        "harvest.xml": f"<theHarvester><email>a@x.org</email><person>{person}</person></theHarvester>",
        "domain.json": json.dumps({"a": ["Adobe"], "bob": ["Adobe", "Gawker"]}),
        "breaches.json": json.dumps({"BreachSearchResults": results, "PasteSearchResults": []}),
    }.items():
        (box / name).write_text(text, "utf-8")
        (box / f"{name}.yaml").write_text(
            f"person: {{name: {person}, email: a@x.org, phone: +49 160 1234567, dob: 1984-03-12, zip: '02138'}}\n"
            f"country: US\nsources: [{{name: s, path: {name}}}]\n"
        )


def _options(place: Path) -> None:
    """One thing of each kind, for odd arguments."""
    box = place / "options"
    shutil.copytree(place / "case", box)
    shutil.copytree(place / "cells" / "r", box / "r")
    shutil.copy(place / "cells" / "p.csv", box)
    shutil.copy(place / "cells" / "tacit.toml", box)
    shutil.copy(place / "words" / "m.tacit", box)
