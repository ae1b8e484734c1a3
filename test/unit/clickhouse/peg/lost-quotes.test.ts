import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hoursTogether } from '../../../../clickhouse/peg/quotes.js'

const HOUR = 3600_000

/** Rows of hours as samples make them: when it was first sampled in each, and when it last had a quote there. */
const Rows = fc.uniqueArray(
  fc.record({
    hour: fc.integer({ min: 0, max: 9 }),
    first: fc.integer({ min: 0, max: 1799 }),
    last: fc.option(fc.integer({ min: 0, max: 1799 })),
  }),
  { selector: ({ hour }) => hour },
)

const dated = (ms: number | null | undefined): Date | null => (ms == null || !Number.isFinite(ms) ? null : new Date(ms))

/** When it was first sampled, last had a quote, and the first of an hour's samples after that, by all rows at once. */
function summary(rows: readonly { sampled: number; quoted: number | null }[]) {
  const quoted = dated(Math.max(...rows.map((row) => row.quoted ?? Number.NEGATIVE_INFINITY)))
  const after = rows.map(({ sampled }) => sampled).filter((time) => quoted && time > quoted.getTime())
  return {
    sampled: new Date(Math.min(...rows.map(({ sampled }) => sampled))),
    quoted,
    following: dated(Math.min(...after)),
  }
}

test('what earlier hours and the last one say together is what all hours say at once', () => {
  fc.assert(
    fc.property(Rows, fc.integer({ min: 0, max: 9 }), (made, now) => {
      const rows = made.map(({ hour, first, last }) => ({
        hour,
        sampled: hour * HOUR + first * 1000,
        quoted: last === null ? null : hour * HOUR + (first + last) * 1000,
      }))
      const earlier = rows.filter(({ hour }) => hour < now)
      const own = rows.find(({ hour }) => hour === now)
      const together = hoursTogether(
        earlier.length > 0 ? summary(earlier) : undefined,
        own && { sampled: new Date(own.sampled), quoted: dated(own.quoted) },
      )
      const all = rows.filter(({ hour }) => hour <= now)
      expect(together).toEqual(all.length > 0 ? summary(all) : null)
    }),
  )
})
