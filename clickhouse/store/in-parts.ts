/** Most values of one array parameter. Parameters are sent in the URL, for which ClickHouse allows 1 MiB. */
const MOST_VALUES = 2000

/**
 * The rows of a read that takes any number of values, read a part of them at a time, one part after another. However
 * many values there are, whoever made them, the requests stay within the server's limits.
 */
export async function inParts<Value, Row>(
  values: readonly Value[],
  read: (part: Value[]) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let next = 0; next < values.length; next += MOST_VALUES) {
    for (const row of await read(values.slice(next, next + MOST_VALUES))) rows.push(row)
  }
  return rows
}
