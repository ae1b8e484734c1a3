// Requests per second of answers that are in memory, and of 304s, against a bare Fastify route that sends the same bytes from
// a string: by the clock, and by the CPU time that the server's process spends on a request, which a busy machine leaves alone.
import { startApiMarket } from './api-market.js'
import { startBareServer } from './bare-server.js'
import { median } from './measure.js'
import { wrk } from './wrk.js'

const ROUNDS = 7
const SECONDS = 2
/** Functions are compiled by then. */
const WARM_SECONDS = 4
/** What Fastify and Node add by themselves. */
const OWN_FIELDS = new Set(['connection', 'keep-alive', 'date', 'content-length'])

const market = await startApiMarket(50)
try {
  const api = await market.startApi(64)
  const base = '/api/v1/stablecoins'
  const asOf = `as_of=${Math.floor(Date.now() / 1000) - 1}`

  async function page(path: string, headers: Record<string, string>) {
    const response = await fetch(`${api.url}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } })
    const fields = Object.fromEntries([...response.headers].filter(([name]) => !OWN_FIELDS.has(name)))
    return {
      status: response.status,
      body: await response.text(),
      fields,
      etag: response.headers.get('etag') as string,
    }
  }

  async function compare(path: string, isConditional: boolean): Promise<void> {
    const { etag } = await page(path, {})
    const headers: Record<string, string> = isConditional ? { 'if-none-match': etag } : {}
    const { status, body, fields } = await page(path, headers)
    if (status !== (isConditional ? 304 : 200)) throw new Error(`${path}: ${status}`)
    const bare = { path: path.replace(/\?.*/, ''), etag, body: isConditional ? null : body }
    const servers = {
      bare: await startBareServer(bare),
      fields: await startBareServer({ ...bare, headers: fields }),
      ours: api,
    }
    for (const server of Object.values(servers)) await wrk(server, path, { seconds: WARM_SECONDS, headers })
    const rounds: Record<'bare' | 'ours' | 'same', Awaited<ReturnType<typeof wrk>>>[] = []
    for (let round = 0; round < ROUNDS; round++) {
      // In turn, so that whatever else the machine does meets all.
      const bare = await wrk(servers.bare, path, { seconds: SECONDS, headers })
      const ours = await wrk(servers.ours, path, { seconds: SECONDS, headers })
      const same = await wrk(servers.fields, path, { seconds: SECONDS, headers })
      rounds.push({ bare, ours, same })
    }
    servers.bare.stop()
    servers.fields.stop()

    const ratios = (name: 'bare' | 'same'): string => {
      const byClock = median(rounds.map((round) => round.ours.perSecond / round[name].perSecond))
      const byCpu = median(rounds.map((round) => round[name].cpuSeconds / round.ours.cpuSeconds))
      return `${byClock.toFixed(2)} by the clock, ${byCpu.toFixed(2)} by CPU time`
    }
    const what = `${path.replace(/0x\w+/, ':address').replace(/as_of=.*/, 'as_of')}: ${isConditional ? '304' : `${Buffer.byteLength(body)} bytes`}`
    const rate = median(rounds.map(({ ours }) => ours.perSecond)).toFixed(0)
    const target = `target: at least ${isConditional ? 0.9 : 0.85}`
    console.log(
      `${what}: ${rate}/s; of a bare Fastify route ${ratios('bare')} (${target}); of one that sends the same header fields ${ratios('same')}`,
    )
  }

  const paths = [`${base}/${market.stables[0]}/peg`, base, `${base}/flows`]
  for (const path of paths) await compare(path, false)
  // Of a given instant, so that the tag stays the same.
  for (const path of paths) await compare(`${path}?${asOf}`, true)
} finally {
  await market.close()
}
