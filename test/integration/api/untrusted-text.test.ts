import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { EXPORT_FORMATS, type ExportFormat } from '../../../clickhouse/store/export.js'
import { WEBHOOK_FORMATS } from '../../../clickhouse/webhooks/formats.js'
import { shownSymbol as symbolOfTerminal, table } from '../../../clients/cli/src/text.js'
import { shown as shownToAgents } from '../../../clients/mcp/src/shown.js'
import { csvText } from '../../../dashboard/parts/csv.js'
import { labelsOf } from '../../../dashboard/parts/names.js'
import { svgSurface } from '../../../dashboard/parts/svg-surface.js'
import { rendered } from '../../../jobs/webhooks/formats/render.js'
import { SUBSCRIPTION_KEY, test } from '../../support/app.js'
import { addEvents, madeUpEvent } from '../../support/events.js'
import { HOSTILE_TEXTS } from '../../support/hostile-texts.js'
import { addBlocks, addFacts, flow, pegSamples, stableAddress, stablecoin } from '../../support/rows.js'
import { contentOf } from '../../support/webhooks/contents.js'
import { childrenOf, parsedXml, textOf, textsOf } from '../../support/xml.js'

/** The database keeps texts as UTF-8, which has no lone surrogates. */
const SYMBOLS = HOSTILE_TEXTS.map((text) => text.replaceAll(/\p{Cs}/gu, '\ufffd'))
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/

/** What a reader of HTML shows. */
const htmlShown = (html: string): string => {
  expect(html).not.toMatch(/[<>]/)
  return html.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** Answers that are not described by /openapi.json, by how a symbol stands in them: none, or as a test below expects. */
const OTHER_ROUTES = {
  none: ['/api/v2/status.json', '/docs', '/health/live', '/health/ready', '/llms.txt', '/metrics', '/openapi.json'],
  tested: ['/badge/:file', '/breaks.atom'],
}

/** The paths that answer to GET, from the router's tree. */
function routesOf(app: FastifyInstance): string[] {
  const above: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', segment = '', methods = ''] = /^(\W*?[─ ]|)(\/?\S*)(?: \(([^)]*)\))?/.exec(line) ?? []
      above.length = Math.floor(indent.length / 4)
      const path = `${above.join('')}${segment}`
      above[Math.floor(indent.length / 4)] = segment
      return methods.includes('GET') ? [path] : []
    })
}

const HEADERS = { authorization: `Bearer ${SUBSCRIPTION_KEY}` }

test('a token that is called anything breaks no answer, and is shown as text', async ({ app, clickhouse, clock }) => {
  const now = Math.floor(clock.now.getTime() / 1000)
  const started_at = clock.now.toISOString()
  await addBlocks(clickhouse, [now - 60, now])
  await addFacts(clickhouse, {
    stablecoins: SYMBOLS.map((symbol, i) => stablecoin(i + 1, { symbol, name: symbol })),
    samples: SYMBOLS.flatMap((_, i) => pegSamples(stableAddress(i + 1), [{ at: now, price: 990_000 }])),
    flows: SYMBOLS.map((_, i) => flow(i + 1, i === 0 ? 2 : 1, now - 30, { log_index: i })),
  })
  await addEvents(
    clickhouse,
    SYMBOLS.map((_, i) => {
      const stable = stableAddress(i + 1)
      const data = { stable, severity: 'mild', started_at, started_block: i + 1, max_deviation_bps: 100 }
      return madeUpEvent(i, { stables: [stable], data })
    }),
  )

  const listed = (await app.inject({ url: '/api/v1/stablecoins?limit=500' })).json()
  const symbols = new Map<string, string>(
    listed.stablecoins.map((stable: { address: string; symbol: string }) => [stable.address, stable.symbol]),
  )
  expect([...symbols.values()].toSorted()).toEqual([...SYMBOLS].toSorted())

  const feed = parsedXml((await app.inject('/breaks.atom')).body)
  const entries = childrenOf(feed, 'entry')
  expect(entries).toHaveLength(SYMBOLS.length)
  for (const [i, symbol] of SYMBOLS.entries()) {
    const stable = stableAddress(i + 1)
    const { label } = (await app.inject(`/badge/${stable}.json`)).json()
    expect(label, symbol).toMatch(/^.{1,20}$/u)
    expect(label).not.toMatch(UNSEEN)
    expect(textsOf(parsedXml((await app.inject(`/badge/${stable}.svg`)).body))).toContain(label)
    const entry = entries.find((entry) => textOf(entry, 'summary').includes(stable))
    expect(entry && htmlShown(textOf(entry, 'title'))).toBe(`${label}: mild peg break, ongoing`)
  }

  const answers: Record<ExportFormat, (body: string) => void> = {
    json: (body) => expect(JSON.parse(body).data).toHaveLength(SYMBOLS.length),
    ndjson: (body) =>
      expect(
        body
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toHaveLength(SYMBOLS.length),
    csv: (body) => {
      const cells = [...body.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",\n]*))(?=,|\n)/gm)]
      for (const [, quoted, plain] of cells) expect((quoted ?? plain ?? '').replaceAll('""', '"')).not.toMatch(FORMULA)
      for (const symbol of SYMBOLS) expect(body).toContain(symbol.replaceAll('"', '""'))
    },
    parquet: (body) => expect(body.slice(0, 4)).toBe('PAR1'),
    arrow: (body) => expect(body.length).toBeGreaterThan(1000),
  }
  for (const format of Object.keys(EXPORT_FORMATS) as ExportFormat[]) {
    const url = `/api/v1/stablecoins/flows/export?from=1h&format=${format}`
    const response = await app.inject({ url, headers: HEADERS })
    expect([format, response.statusCode]).toEqual([format, 200])
    answers[format](response.body)
  }

  for (const url of OTHER_ROUTES.none) {
    const { body } = await app.inject({ url, remoteAddress: '127.0.0.1' })
    for (const symbol of SYMBOLS.filter(({ length }) => length > 8)) expect(body).not.toContain(symbol)
  }
  const described = Object.keys((await app.inject('/openapi.json')).json().paths)
  const known = new Set([
    ...described.map((path) => path.replaceAll(/\{(\w+)\}/g, ':$1')),
    ...Object.values(OTHER_ROUTES).flat(),
  ])
  expect(routesOf(app).filter((path) => !known.has(path) && !path.startsWith('/docs/'))).toEqual([])
})

test('messages, tables, files and agents get a token that is called anything as text', () => {
  for (const symbol of HOSTILE_TEXTS) {
    for (const format of WEBHOOK_FORMATS) {
      const names = new Map([...Array(9).keys()].map((i) => [`0x20c000000000000000000000000000000000000${i}`, symbol]))
      const content = contentOf('peg_break.started')
      const { body } = rendered(7, content, { format, chat_id: '1' }, { base: 'https://plumbline.example/', names })
      expect(() => JSON.parse(body)).not.toThrow()
      expect(body).not.toMatch(/evil\.|@everyone|@here|<!|<img|<a\/>|=1\+1/)
    }
    expect(table([[symbolOfTerminal(symbol)]]).join()).not.toMatch(UNSEEN)
    expect(JSON.stringify(shownToAgents({ anything: [symbol] }))).not.toMatch(UNSEEN)

    const [label] = [...labelsOf([{ address: stableAddress(1), symbol }]).values()]
    expect(label?.text).toMatch(/\S/)
    const { surface, document } = svgSurface(10, 10, {} as never)
    surface.text(symbol, 0, 0, { colour: 'ink', size: 1 })
    const allowed = symbol
      .replaceAll(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
      .replaceAll(/\r\n?/g, '\n')
    expect(textsOf(parsedXml(document(symbol)))).toContain(allowed)
    expect(
      csvText(['symbol'], [[symbol]])
        .split('\r\n')[1]
        ?.replace(/^"/, '') ?? '',
    ).not.toMatch(FORMULA)
  }
})
