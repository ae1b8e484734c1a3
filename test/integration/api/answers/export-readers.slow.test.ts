import { expect } from 'vitest'
import { test } from '../../../support/python.js'
import { addFacts, flow, stateRead } from '../../../support/rows.js'

/** The most that a token can have. */
const MOST = `${2n ** 128n - 1n}`

const READERS = ['pandas==3.1.1', 'polars==2.1.0', 'pyarrow==26.0.1', 'duckdb==2.0.1']

/** Reads what `URL` serves in every format with every reader; prints how many rows each had, or fails where one differs. */
const PROGRAM = `
import datetime, io, json, os, sys, urllib.request
import duckdb, pandas, polars, pyarrow.csv, pyarrow.ipc, pyarrow.json, pyarrow.parquet

def get(url):
    headers = {"Authorization": "Bearer " + os.environ["PLUMBLINE_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer: return answer.read()

def plain(value):
    if isinstance(value, float) and value != value or value is pandas.NaT or value is pandas.NA: return None
    if hasattr(value, "tolist"): value = value.tolist()
    if isinstance(value, str): return value.replace(".000Z", "Z")
    if isinstance(value, datetime.datetime):
        value = value.astimezone(datetime.timezone.utc)
        text = value.isoformat(timespec="milliseconds" if value.microsecond else "seconds")
        return text.replace("+00:00", "Z")
    if isinstance(value, float) and value.is_integer(): return int(value)
    return value

def rows(table): return [{name: plain(value) for name, value in row.items()} for row in table]
def frame(table): return rows(table.astype(object).to_dict("records"))
def sql(text): return rows(duckdb.sql(text).arrow().read_all().to_pylist())

duckdb.sql("SET TimeZone = 'UTC'")

def readings(url):
    def saved(format):
        path = "rows." + format
        with open(path, "wb") as file: file.write(get(url + "&format=" + format))
        return path
    parquet, arrow, csv, ndjson = [saved(format) for format in ("parquet", "arrow", "csv", "ndjson")]
    yield "parquet pandas", frame(pandas.read_parquet(parquet))
    yield "parquet polars", rows(polars.read_parquet(parquet).to_dicts())
    yield "parquet pyarrow", rows(pyarrow.parquet.read_table(parquet).to_pylist())
    yield "parquet duckdb", sql(f"FROM '{parquet}'")
    if "/export" not in url: # It would need a key, which Polars does not send.
        yield "parquet polars by URL", rows(polars.scan_parquet(url + "&format=parquet").collect().to_dicts())
        by_url = polars.scan_csv(url + "&format=csv", infer_schema=False, null_values=["\\\\N"])
        yield "csv polars by URL", rows(by_url.collect().to_dicts())
        by_url = polars.scan_ndjson(url + "&format=ndjson", infer_schema_length=None)
        yield "ndjson polars by URL", rows(by_url.collect().to_dicts())
    table = pyarrow.ipc.open_stream(arrow).read_all()
    yield "arrow pyarrow", rows(table.to_pylist())
    yield "arrow pandas", frame(table.to_pandas())
    yield "arrow polars", rows(polars.read_ipc_stream(arrow).to_dicts())
    yield "arrow from polars", rows(polars.from_arrow(table).to_dicts())
    yield "arrow duckdb", rows(duckdb.from_arrow(table).arrow().read_all().to_pylist())
    yield "ndjson pandas", frame(pandas.read_json(ndjson, lines=True, dtype=False))
    yield "ndjson polars", rows(polars.read_ndjson(ndjson, infer_schema_length=None).to_dicts())
    yield "ndjson duckdb", sql(f"FROM read_json('{ndjson}')")
    yield "csv pandas", frame(pandas.read_csv(csv, dtype=str, na_values=["\\\\N"], keep_default_na=False))
    yield "csv polars", rows(polars.read_csv(csv, infer_schema=False, null_values=["\\\\N"]).to_dicts())
    yield "csv duckdb", sql(f"FROM read_csv('{csv}', all_varchar = true, nullstr = '\\\\N', header = true)")
    options = pyarrow.csv.ConvertOptions(null_values=["\\\\N"], strings_can_be_null=True, quoted_strings_can_be_null=False,
        column_types={name: pyarrow.string() for name in json.loads(open(ndjson).readline())})
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True)
    yield "csv pyarrow", rows(pyarrow.csv.read_csv(csv, convert_options=options, parse_options=parse).to_pylist())

def written(value): return value if value is None else str(plain(value))

for url in sys.argv[1:]:
    expected = rows(json.loads(get(url))["data"])
    for reader, read in readings(url):
        wanted = expected
        if reader.startswith("csv"):
            read = [{name: written(value) for name, value in row.items() if name != "path"} for row in read]
            wanted = [{name: written(value) for name, value in row.items() if name != "path"} for row in expected]
        assert len(read) == len(wanted) > 0, (url, reader, len(read))
        for row, want in zip(read, wanted):
            # A text in JSON, whose numbers end at 2^53.
            row = {name: str(value) if name == "block_number" else value for name, value in row.items()}
            different = {name: (row.get(name), value) for name, value in want.items() if row.get(name) != value}
            assert not different, (url, reader, different)
        print(reader, len(read))
`

test('every series and export is the same in every reader and format, digit for digit', async ({
  market,
  origin,
  run,
}) => {
  const { clickhouse, end } = market
  const { stablecoins } = (await (await fetch(`${origin}/api/v1/stablecoins`)).json()) as {
    stablecoins: { address: string }[]
  }
  const stable = stablecoins[0]?.address ?? ''
  await addFacts(clickhouse, {
    flows: [flow(1, 2, end - 40, { amount_in_raw: MOST, amount_out_raw: '1', usd_micros: MOST })],
    states: [stateRead(stable, { block_time: end - 40, supply_raw: MOST, cap_raw: MOST })],
  })
  const range = `from=${market.start}&to=${end}`
  const of = (name: string): string => `${origin}/api/v1/stablecoins/${stable}/${name}/series?${range}&interval=5m`
  const urls = [of('peg'), of('supply'), of('risk'), `${origin}/api/v1/stablecoins/flows/export?${range}`]
  await run('python3', '-m', 'venv', '.venv')
  await run('.venv/bin/pip', 'install', '--quiet', ...READERS)
  const printed = await run('.venv/bin/python', '-c', PROGRAM, ...urls)
  expect(printed.trim().split('\n')).toHaveLength(16 * urls.length + 3 * (urls.length - 1))
})
