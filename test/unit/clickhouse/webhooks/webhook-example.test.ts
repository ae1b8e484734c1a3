import { expect, test } from 'vitest'
import { EventShape } from '../../../../api/events/shapes.js'
import { EVENT_TYPES } from '../../../../clickhouse/events/types.js'
import { exampleData } from '../../../../clickhouse/webhooks/body.js'

test('a test event has exactly the fields of its type', () => {
  const now = new Date('2026-09-01T12:07:30.789Z')
  const [occurred_at, recorded_at] = ['2026-09-01T12:07:30Z', '2026-09-01T12:07:30.789Z']
  for (const event of EVENT_TYPES) {
    const data = exampleData(event, now)
    const told = { id: 'evt_test_1', sequence: 0, event, occurred_at, published_at: occurred_at, recorded_at, data }
    expect(EventShape.parse(told)).toEqual(told)
    expect(JSON.stringify(data)).toMatch(/7e57|"test"/)
  }
})
