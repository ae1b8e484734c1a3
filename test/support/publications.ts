/** SQL for the rows of a snapshot table of which each is the newest of its stable and slot. */
export const newestRevisions = (table: string): string =>
  `SELECT * FROM ${table} ORDER BY stable, slot_at, revision DESC, published_at DESC LIMIT 1 BY stable, slot_at`
