/** How a table whose rows are numbered is read and written. */
type Numbered<Row> = {
  /** The newest number; 0 while there is no row. */
  newest: () => Promise<number>
  /** The rows to add that are not in the table yet. */
  missing: () => Promise<readonly Row[]>
  /**
   * Adds rows with consecutive numbers that start at `first`; does nothing if another writer has already used `first`.
   */
  insert: (rows: readonly Row[], first: number) => Promise<void>
}

/**
 * Adds the missing rows, in the order given, to a table whose rows are numbered in the order in which readers see them.
 * Each row is stored once, however many writers add the same or other rows and whenever one of them is killed. A reader
 * that has seen a number has seen every row that will ever precede it: the token of an insert is its first number, so
 * of two writers that continue from the same row, one inserts nothing.
 */
export async function appendNumbered<Row>({ newest, missing, insert }: Numbered<Row>): Promise<void> {
  let tried = 0
  for (let rows = await missingAfterNewest(); rows.length > 0; rows = await missingAfterNewest()) {
    await insert(rows, tried)
    // Either our insert or a faster writer's was stored. Continue only if some of our rows are still missing.
    if ((await missing()).length === 0) return
  }

  async function missingAfterNewest(): Promise<readonly Row[]> {
    // In this order: if another writer inserts after the newest number was read, our insert does nothing. If a writer
    // is killed after its token was recorded and before its rows were, its number stays unused.
    tried = Math.max(await newest(), tried) + 1
    return missing()
  }
}
