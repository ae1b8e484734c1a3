/** How a table whose rows are numbered is read and written. */
type Numbered<Row> = {
  /** The newest number; 0 while there is no row. */
  newest: () => Promise<number>
  /** Those of the rows to be added that are not there yet. */
  missing: () => Promise<readonly Row[]>
  /** Adds rows under the numbers from `first` on; does nothing where another writer has taken `first`. */
  insert: (rows: readonly Row[], first: number) => Promise<void>
}

/**
 * Adds rows to a table whose rows are numbered in the order in which they are seen, those that are missing and in the
 * order given. However many writers add the same or others, and wherever one of them was killed, each is there once,
 * and who has seen a number has seen all that will ever be before it: of two writers who go on from the same row, one
 * inserts nothing, as the token of an insert is its first number.
 */
export async function appendNumbered<Row>({ newest, missing, insert }: Numbered<Row>): Promise<void> {
  let tried = 0
  for (let rows = await missingAfterNewest(); rows.length > 0; rows = await missingAfterNewest()) {
    await insert(rows, tried)
    // The rows are ours, or those of who was faster: only where some are missing still, it has to go on.
    if ((await missing()).length === 0) return
  }

  async function missingAfterNewest(): Promise<readonly Row[]> {
    // In this order: whatever is recorded after the first look makes the insert do nothing. A kill between the note of an
    // insert's token and its rows has used a number up.
    tried = Math.max(await newest(), tried) + 1
    return missing()
  }
}
