import { z } from 'zod'

const DESCRIPTION = 'Where to continue: `next_cursor` of the previous page'

/** undefined for invalid JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A query parameter that continues after the row with a given sort key: base64url of its values as JSON. */
export function CursorQuery<Key extends z.ZodType>(key: Key) {
  return z
    .string()
    .max(1000)
    .transform((text, context): z.output<Key> => {
      const read = key.safeParse(readJson(Buffer.from(text, 'base64url').toString()))
      if (read.success) return read.data
      context.addIssue('is not a cursor of this list')
      return z.NEVER
    })
    .optional()
    .meta({ description: DESCRIPTION })
}

/** The response field that goes with it. */
export const NextCursor = z.string().nullable().meta({ description: 'The `cursor` of the next page; null at the end' })

/** The most rows of a list in an answer. */
export const MOST_ROWS = 500

/** How many rows of a list an answer has. */
export const LimitQuery = z.coerce
  .number()
  .int()
  .min(1)
  .max(MOST_ROWS)
  .default(50)
  .meta({ description: 'Maximum number of rows in an answer' })

/**
 * Makes a page from up to `limit` + 1 rows: the rows, and the cursor of the next page, if there is one, made from the
 * key of the last row.
 */
export function page<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => unknown) {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const next_cursor =
    rows.length > limit && last !== undefined ? Buffer.from(JSON.stringify(keyOf(last))).toString('base64url') : null
  return { rows: shown, next_cursor }
}
