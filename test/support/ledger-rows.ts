import type { ClickHouseClient } from '@clickhouse/client'

/**
 * Fills the ledger of an empty database with `batches` batches of the tip, one a block and half a second, the newest at
 * `now`, each planned and committed, and with one backfill of the blocks before them. There is a block for every 1,000th.
 */
export async function fillLedger(
  clickhouse: ClickHouseClient,
  { batches, now }: { batches: number; now: Date },
): Promise<void> {
  const insert = (query: string) =>
    clickhouse.command({ query, query_params: { batches, now }, clickhouse_settings: { insert_deduplicate: 0 } })
  const first = 'toUInt64(1001)'
  const families = `['catalogue', 'logs', 'pegs', 'state']`
  const at = 'subtractMilliseconds({now: DateTime64(3)}, 500 * ({batches: UInt64} - number))'
  // A part for every 4 M rows, as merges leave them, and the newest in small ones.
  const ends = [batches - Math.min(1000, batches), batches]
  for (let end = 2_000_000; end < batches - 1000; end += 2_000_000) ends.push(end)
  let from = 0
  for (const end of ends.sort((a, b) => a - b)) {
    await insert(`
      INSERT INTO ingest_batches (track, sequence_number, state, from_block, to_block, last_hash, writer, recorded_at, families)
      SELECT 'tip', number + 1, arrayJoin(['planned', 'committed']), ${first} + number, ${first} + number,
             '0x' || lower(hex(sipHash128(number))) || lower(hex(sipHash128(number + 1))), toString(toUUID('6d38d288-5b13-4714-b6e4-faa59ffd49d8')), ${at}, ${families}
      FROM numbers(${from}, ${end - from})
      SETTINGS max_insert_threads = 1`)
    from = end
  }
  // Merges have built the summaries.
  await insert('ALTER TABLE ingest_batches MATERIALIZE PROJECTION thousands SETTINGS mutations_sync = 1')
  await insert(`
    INSERT INTO ingest_batches (track, sequence_number, state, from_block, to_block, last_hash, writer, recorded_at, families)
    SELECT 'backfill', 1, arrayJoin(['planned', 'committed']), 1, 1000, '0x01', 'writer', {now: DateTime64(3)}, ${families}`)
  await insert(`
    INSERT INTO blocks (block_number, block_hash, parent_hash, block_time, tx_count, log_count)
    SELECT ${first} + number, toString(number), toString(number - 1), toDateTime(${at}), 0, 0
    FROM numbers({batches: UInt64}) WHERE number % 1000 = 0 OR number = {batches: UInt64} - 1
    SETTINGS max_partitions_per_insert_block = 1000`)
}
