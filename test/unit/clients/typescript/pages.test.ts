import { expect, test } from 'vitest'
import { createClient, type Event, UnexpectedAnswerError } from '../../../../clients/typescript/src/client.js'
import { answering, json } from '../../../support/answering.js'

const collected = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

const address = '0x20c0000000000000000000000000000000000000'

test('a list is its first page, all of its rows, or its pages; pages keep the parameters and the moment of the first', async () => {
  const page = (symbol: string, next_cursor: string | null) =>
    json({ as_of: '2026-07-01T12:00:00Z', stablecoins: [{ symbol }], next_cursor })
  const { baseUrl, requests } = await answering(page('A', 'c1'), page('B', 'c2'), page('C', null))
  const list = createClient({ baseUrl }).listStablecoins({ as_of: '24h', limit: 1 })
  expect((await list).stablecoins.map(({ symbol }) => symbol)).toEqual(['A'])
  expect(requests).toHaveLength(1)
  expect((await collected(list)).map(({ symbol }) => symbol)).toEqual(['A', 'B', 'C'])
  const moment = 'as_of=2026-07-01T12%3A00%3A00Z'
  expect(requests.map(({ url }) => url?.split('?')[1])).toEqual([
    'as_of=24h&limit=1',
    `${moment}&limit=1&cursor=c1`,
    `${moment}&limit=1&cursor=c2`,
  ])
})

test('the log of events goes on from page to page until there are no more', async () => {
  const page = (ids: string[], next_after: number, has_more: boolean) =>
    json({ events: ids.map((id) => ({ id, event: 'of.the.future' })), next_after, has_more })
  const { baseUrl, requests } = await answering(page(['a', 'b'], 2, true), page(['c'], 3, false))
  const pages = createClient({ baseUrl }).listEvents({ after: '0', limit: 2 }).pages()
  const [first, second] = await collected(pages)
  expect([first, second].flatMap((page) => page?.events.map(({ id }: Event) => id))).toEqual(['a', 'b', 'c'])
  // Where to continue later.
  expect(second?.next_after).toBe(3)
  expect(requests.map(({ url }) => url?.split('?')[1])).toEqual(['after=0&limit=2', 'after=2&limit=2'])
})

test('a page that fails for now is requested again: no row is lost, none comes twice', async () => {
  const { baseUrl } = await answering(
    json({ anomalies: [{ z: 1 }], next_cursor: 'n' }),
    json({}, 503, { 'retry-after': '0' }),
    json({ anomalies: [{ z: 2 }], next_cursor: null }),
  )
  expect(await collected(createClient({ baseUrl }).listFlowAnomalies())).toEqual([{ z: 1 }, { z: 2 }])
})

test('an answer that does not lead to another page is the last one', async () => {
  for (const body of [{}, { events: [{ id: 1 }] }, { events: [{ id: 1 }], has_more: true }]) {
    const { baseUrl, requests } = await answering(json(body))
    const client = createClient({ baseUrl })
    expect(await collected(client.listPegEvents({ address }))).toHaveLength(body.events?.length ?? 0)
    expect(await collected(client.listEvents())).toHaveLength(body.events?.length ?? 0)
    expect(requests).toHaveLength(2)
  }
})

test('a server that repeats its page does not keep the caller for ever', async () => {
  const { baseUrl } = await answering(json({ anomalies: [{}], next_cursor: 'n' }))
  await expect(collected(createClient({ baseUrl }).listFlowAnomalies())).rejects.toThrow(UnexpectedAnswerError)
})

test('an abort between two pages ends the iteration', async () => {
  const { baseUrl, requests } = await answering(json({ anomalies: [{}, {}], next_cursor: 'n' }))
  const caller = new AbortController()
  const rows = createClient({ baseUrl }).listFlowAnomalies({}, { signal: caller.signal })
  const reading = (async () => {
    for await (const _ of rows) caller.abort('enough')
  })()
  await expect(reading).rejects.toBe('enough')
  expect(requests).toHaveLength(1)
})
