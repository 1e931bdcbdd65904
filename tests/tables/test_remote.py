"""Files elsewhere: an S3 server and an https server on loopback; nothing is fetched unless somebody says so."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import ssl
import subprocess
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.errors import SourceError
from tacit.loading import fenced, without_credentials
from tacit.tables import open_table, sources

KEY, SECRET = "AKIATACIT", "very-secret-key"


def rows(table):
    return table.sample(table.names, 10**9).to_pylist()


SHOWN = {
    "postgresql://me:s3cret@h:5/d": "postgresql://me@h:5/d",
    "postgresql://me:s3@cret@h/d": "postgresql://me@h/d",
    "postgresql://:s3cret@h/d": "postgresql://h/d",
    "s3a://KEY:s3/cret@bucket/a@1.csv": "s3a://KEY@1.csv",
    "s3a://KEY:#s3cret@bucket/x?k=s3cret": "s3a://KEY@bucket/x",
    "S3://bucket/p*.csv?k=s3cret#s3cret": "s3://bucket/p*.csv",
    "hdfs://h:9000/people@work/x": "hdfs://h:9000/people@work/x",
    "postgresql://[::1]:5/d@x": "postgresql://[::1]:5/d@x",
    "file:///lake/a:b@c": "file:///lake/a:b@c",
}


@pytest.mark.parametrize("address", SHOWN)
def test_an_address_is_shown_without_its_password_wherever_that_ends(address):
    assert without_credentials(address) == SHOWN[address]


def test_an_address_with_odd_brackets_is_refused():
    with pytest.raises(SourceError, match=r"https://\[x/t.csv is not an address: check its brackets"):
        open_table("https://[x/t.csv", remote=True)


@pytest.fixture(scope="module")
def store():
    """A bucket `people` on an S3 server of our own."""
    server_module = pytest.importorskip("moto.server", reason="moto is not installed (`dev`)")
    boto3 = pytest.importorskip("boto3")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "s3",
        endpoint_url=f"http://{host}:{port}",
        region_name="us-east-1",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
    )
    client.create_bucket(Bucket="people")
    client.put_object(Bucket="people", Key="one/t.csv", Body=b"race,city\n" + b"a,x\nb,y\n" * 30)
    for year in (1999, 2001):
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"n": [year]}), sink)
        client.put_object(Bucket="people", Key=f"many/year={year}/p.parquet", Body=sink.getvalue().to_pybytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield f"{host}:{port}"
    server.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_nothing_is_fetched_unless_asked_for(store, tmp_path, tacit_command):
    with pytest.raises(
        SourceError, match=r"s3://people/one/t.csv is remote, and nothing is fetched unless you ask for it"
    ):
        open_table("s3://people/one/t.csv")
    code, _, err = tacit_command("audit", "s3://people/one/t.csv", "--secret", "race")
    assert code == 3
    assert "add --remote" in err
    with pytest.raises(SourceError, match="outside the folder"), fenced(tmp_path):
        open_table("s3://people/one/t.csv", remote=True)
    with pytest.raises(SourceError, match=r"ftp://a/t.csv is an address that Tacit cannot read"):
        open_table("ftp://a/t.csv", remote=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_file_and_a_folder_of_a_store_are_tables(store, tmp_path, tacit_command):
    assert rows(open_table("s3://people/one/t.csv", remote=True))[:2] == [
        {"race": "a", "city": "x"},
        {"race": "b", "city": "y"},
    ]
    both = [{"n": 1999, "year": 1999}, {"n": 2001, "year": 2001}]
    assert rows(open_table("s3://people/many", remote=True)) == both
    assert rows(open_table("s3://people/many/*/p.parquet", remote=True)) == both
    with pytest.raises(SourceError, match="s3://people/none names nothing"):
        open_table("s3://people/none", remote=True)
    code, out, err = tacit_command(
        *("audit", "s3://people/one/t.csv", "--remote", "--secret", "race", "--format", "json", "--quiet")
    )
    assert code == 0, err
    assert json.loads(out)["source"]["name"] == "s3://people/one/t.csv"
    words = "--secret", "race", "--epsilon", "2", "--remote", "--quiet"
    out = str(tmp_path / "out")
    assert tacit_command("protect", "s3://people/one/t.csv", *words, "-o", out)[0] == 0
    assert tacit_command("verify", out, "--against", "s3://people/one/t.csv", "--remote")[0] == 0
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_sources_of_a_person_are_fetched_once_and_only_if_asked_for(store, tmp_path, monkeypatch, tacit_command):
    case = tmp_path / "case.yaml"
    case.write_text(
        "person: {city: x, n: 1999}\nadversaries: [{name: reads}]\n"
        "sources: [{name: one, path: 's3://people/one/t.csv'}, {name: many, path: 's3://people/many/*/p.parquet'}]\n"
    )
    code, _, err = tacit_command("person", "audit", str(case))
    assert code == 3
    assert err.count("is remote, and nothing is fetched unless you ask for it: add --remote") == 2
    fetched, real = [], sources.fetched
    monkeypatch.setattr(sources, "fetched", lambda *given: fetched.append(given[0]) or real(*given))
    code, out, err = tacit_command("person", "audit", str(case), "--remote", "--format", "json", "--quiet")
    assert code == 0, err
    one, many = json.loads(out)["sources"]
    assert (one["path"], one["records"], many["records"]) == ("s3://people/one/t.csv", 60, 2)
    assert one["sha256"] == hashlib.sha256(b"race,city\n" + b"a,x\nb,y\n" * 30).hexdigest()
    assert many["sha256"] is not None
    assert fetched == ["s3://people/one/t.csv", "s3://people/many/*/p.parquet"]
    # The others may be asked, too.
    code, _, err = tacit_command("person", "remove", str(case), "--remote", "--quiet")
    assert code == 0, err


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """An https server with a certificate of its own."""
    place = tmp_path_factory.mktemp("site")
    (place / "t.csv").write_text("a\n1\n2\n")
    made = subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", place / "key.pem", "-out", place / "cert.pem"),
        ],
        capture_output=True,
    )
    if made.returncode:
        pytest.skip("there is no openssl to make a certificate with")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

        def do_GET(self):
            if self.path.startswith("/away"):
                self.send_response(302)
                self.send_header("Location", "http://localhost:1/t.csv")
                self.end_headers()
            else:
                super().do_GET()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(place)))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "cert.pem", place / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(place / "cert.pem"))
        yield f"https://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_file_at_an_https_address_is_read_and_its_signature_is_not_told(site):
    table = open_table(f"{site}/t.csv?signature=S3CRET", remote=True)
    assert rows(table) == [{"a": "1"}, {"a": "2"}]
    assert table.name == f"{site}/t.csv"
    for path, why in (("none.csv", "the server answered 404"), ("away.csv", "an address that is not https")):
        with pytest.raises(SourceError, match=why) as caught:
            open_table(f"{site}/{path}?signature=S3CRET", remote=True)
        assert "S3CRET" not in str(caught.value)
        assert caught.value.__cause__ is None
