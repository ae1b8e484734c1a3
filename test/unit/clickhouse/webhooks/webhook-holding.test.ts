import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Holding, isHeld, isQuiet, isTimeZone, releaseAt } from '../../../../clickhouse/webhooks/holding.js'

const NONE: Holding = { quiet_from: '', quiet_to: '', quiet_zone: '', critical_passes: false, digest_minutes: 0 }
const NIGHT: Holding = { ...NONE, quiet_from: '22:00', quiet_to: '07:00', quiet_zone: 'Europe/Berlin' }
const released = (at: string, holding: Holding): string => releaseAt(new Date(at), holding).toISOString()

test('without quiet hours and digest an event is released at once', () => {
  expect(released('2026-07-20T16:02:03.456Z', NONE)).toBe('2026-07-20T16:02:03.456Z')
})

test('quiet hours end by the clock of their zone, over midnight or within a day', () => {
  // Berlin is two hours ahead of UTC in July, one in January.
  expect(released('2026-07-20T19:59:59.999Z', NIGHT)).toBe('2026-07-20T19:59:59.999Z')
  expect(released('2026-07-20T20:00:00.000Z', NIGHT)).toBe('2026-07-21T05:00:00.000Z')
  expect(released('2026-07-21T04:59:59.999Z', NIGHT)).toBe('2026-07-21T05:00:00.000Z')
  expect(released('2026-07-21T05:00:00.000Z', NIGHT)).toBe('2026-07-21T05:00:00.000Z')
  expect(released('2026-01-20T23:30:00.000Z', NIGHT)).toBe('2026-01-21T06:00:00.000Z')
  const lunch = { ...NIGHT, quiet_from: '12:00', quiet_to: '13:30', quiet_zone: 'Asia/Kathmandu' }
  expect(released('2026-07-20T06:14:59.999Z', lunch)).toBe('2026-07-20T06:14:59.999Z')
  expect(released('2026-07-20T06:15:00.001Z', lunch)).toBe('2026-07-20T07:45:00.000Z')
})

test('a night in which clocks change ends when they show the end', () => {
  // 2026-03-29, 01:00Z: from 2:00 to 3:00. 2026-10-25, 01:00Z: from 3:00 back to 2:00.
  expect(released('2026-03-28T22:00:00.000Z', NIGHT)).toBe('2026-03-29T05:00:00.000Z')
  expect(released('2026-10-24T21:00:00.000Z', NIGHT)).toBe('2026-10-25T06:00:00.000Z')
  // An end that no clock shows on that day: quiet until clocks have passed it.
  const skipped = { ...NIGHT, quiet_to: '02:30' }
  expect(released('2026-03-29T00:10:00.000Z', skipped)).toBe('2026-03-29T01:00:00.000Z')
  // An end that clocks show twice: what comes in the second time from 2:00 to 2:30 waits for the second end.
  expect(released('2026-10-25T00:10:00.000Z', skipped)).toBe('2026-10-25T00:30:00.000Z')
  expect(released('2026-10-25T00:45:00.000Z', skipped)).toBe('2026-10-25T00:45:00.000Z')
  expect(released('2026-10-25T01:10:00.000Z', skipped)).toBe('2026-10-25T01:30:00.000Z')
  // A start in the hour that is shown twice.
  const late = { ...NIGHT, quiet_from: '02:30' }
  expect(released('2026-10-25T00:40:00.000Z', late)).toBe('2026-10-25T01:00:00.000Z')
})

test('a digest is released at the next multiple of its minutes, and after quiet hours', () => {
  const hourly = { ...NONE, digest_minutes: 60 }
  expect(released('2026-07-20T16:02:03.456Z', hourly)).toBe('2026-07-20T17:00:00.000Z')
  expect(released('2026-07-20T17:00:00.000Z', hourly)).toBe('2026-07-20T18:00:00.000Z')
  expect(released('2026-07-20T16:02:03.456Z', { ...NONE, digest_minutes: 1440 })).toBe('2026-07-21T00:00:00.000Z')
  const both = { ...NIGHT, digest_minutes: 180 }
  expect(released('2026-07-20T17:59:00.000Z', both)).toBe('2026-07-20T18:00:00.000Z')
  // The next multiple is 21:00Z, 23:00 in Berlin.
  expect(released('2026-07-20T18:00:00.000Z', both)).toBe('2026-07-21T05:00:00.000Z')
  // The next multiple, 06:00Z, is after the end of the quiet hours.
  expect(released('2026-07-21T04:00:00.000Z', both)).toBe('2026-07-21T06:00:00.000Z')
})

test('what is critical passes only where it may', () => {
  const recorded_at = new Date('2026-07-20T21:00:00Z')
  const event = (severity: string, at = recorded_at) => ({
    type: 'peg_break.started',
    data: { severity },
    recorded_at: at,
  })
  const held = (severity: string, holding: Holding) => isHeld(event(severity), holding, recorded_at)
  expect([held('severe', NIGHT), held('mild', NIGHT)]).toEqual([true, true])
  const passing = { ...NIGHT, critical_passes: true }
  expect([held('severe', passing), held('mild', passing)]).toEqual([false, true])
  const hourly = { ...passing, digest_minutes: 60 }
  expect([held('severe', hourly), held('mild', hourly)]).toEqual([false, true])
  expect([held('severe', NONE), held('mild', NONE)]).toEqual([false, false])
  // By day, and planned only at night.
  const noon = event('severe', new Date('2026-07-20T12:00:00Z'))
  expect(isHeld(noon, NIGHT, noon.recorded_at)).toBe(false)
  expect(isHeld(noon, NIGHT, recorded_at)).toBe(true)
  expect(isHeld(noon, passing, recorded_at)).toBe(false)
})

test('a time zone is a name, not a distance', () => {
  expect(['Europe/Berlin', 'UTC', 'America/Argentina/Ushuaia'].map(isTimeZone)).toEqual([true, true, true])
  expect(['', '+02:00', 'Europe/Nowhere', 'Berlin', 'Europe/Berlin; DROP'].map(isTimeZone)).toEqual(
    Array(5).fill(false),
  )
})

const MINUTE_MS = 60_000
const clock = fc.integer({ min: 0, max: 1439 })
const text = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const holdings = fc
  .record({
    from: clock,
    length: fc.integer({ min: 1, max: 1439 }),
    zone: fc.constantFrom(...Intl.supportedValuesOf('timeZone')),
    digest_minutes: fc.oneof(fc.constant(0), fc.integer({ min: 5, max: 1440 })),
  })
  .map(
    ({ from, length, zone, digest_minutes }): Holding => ({
      quiet_from: text(from),
      quiet_to: text((from + length) % 1440),
      quiet_zone: zone,
      critical_passes: false,
      digest_minutes,
    }),
  )
/** Of years in which zones have whole minutes; Samoa left out a day in 2011, and Lord Howe changes by half an hour. */
const instants = fc.integer({ min: Date.UTC(2005, 0), max: Date.UTC(2037, 0) }).map((ms) => new Date(ms))

/** As people would: the time of day that is written on a wall, compared as text. */
function isQuietByText(ms: number, { quiet_from, quiet_to }: Holding, wall: Intl.DateTimeFormat): boolean {
  const time = wall.formatToParts(ms)
  const part = (type: string) => time.find((one) => one.type === type)?.value
  const now = `${part('hour')}:${part('minute')}`
  return quiet_from < quiet_to ? quiet_from <= now && now < quiet_to : now >= quiet_from || now < quiet_to
}

test('the release is the first minute that is not quiet, counted minute by minute, in any zone', () => {
  const property = fc.property(holdings, instants, (holding, event_at) => {
    const wall = new Intl.DateTimeFormat('en-US', {
      timeZone: holding.quiet_zone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
    })
    let expected = event_at.getTime()
    if (holding.digest_minutes > 0) {
      expected = Math.floor(expected / MINUTE_MS) * MINUTE_MS + MINUTE_MS
      while ((expected / MINUTE_MS) % holding.digest_minutes !== 0) expected += MINUTE_MS
    }
    while (isQuietByText(expected, holding, wall)) expected = Math.floor(expected / MINUTE_MS + 1) * MINUTE_MS
    const at = releaseAt(event_at, holding)
    expect(at.getTime()).toBe(expected)
    expect(isQuiet(at, holding)).toBe(false)
  })
  fc.assert(property, { numRuns: 300 })
})

test('a later event is never released before an earlier one', () => {
  const property = fc.property(
    holdings,
    instants,
    fc.integer({ min: 0, max: 3 * 86_400_000 }),
    (holding, at, later) => {
      const next = releaseAt(new Date(at.getTime() + later), holding)
      expect(next.getTime()).toBeGreaterThanOrEqual(releaseAt(at, holding).getTime())
    },
  )
  fc.assert(property, { numRuns: 1000 })
})
