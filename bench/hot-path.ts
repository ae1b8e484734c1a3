// Requests per second of answers that are in memory, and of 304s, against a bare Fastify route that sends the same bytes from
// a string: by the clock, and by the CPU time that the server's process spends on a request, which a busy machine leaves alone.
import { deepStrictEqual } from 'node:assert'
import { startApiMarket } from './api-market.js'
import { startBareServer } from './bare-server.js'
import { type Load, load } from './http-load.js'
import { median } from './measure.js'

const ROUNDS = 4
const SECONDS = 1
/** Functions are compiled by then. */
const WARM_SECONDS = 4

const market = await startApiMarket(50)
try {
  const api = await market.startApi(64)
  const base = '/api/v1/stablecoins'
  const paths = [`${base}/${market.stables[0]}/peg`, base, `${base}/flows`]
  // What Fastify and Node add by themselves.
  const own = new Set(['connection', 'keep-alive', 'date', 'content-length'])
  const page = async (path: string) => {
    const response = await fetch(`${api.url}${path}`)
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !own.has(name)))
    return { path, body: await response.text(), etag: response.headers.get('etag') as string, headers }
  }
  const pages = await Promise.all(paths.map(page))
  const bare = await startBareServer(pages.map(({ headers: _, ...rest }) => rest))
  const sameFields = await startBareServer(pages)
  for (const { path, body } of pages) {
    for (const isConditional of [false, true]) {
      for (const server of [bare, sameFields, api])
        await load(server, { paths: [path], seconds: isConditional ? 1 : WARM_SECONDS })
      const rounds: { ours: Load; theirs: Load; same: Load }[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const ask = async (server: typeof api, etag: string) => {
          const headers: Record<string, string> = isConditional ? { 'if-none-match': etag } : {}
          const found = await load(server, { paths: [path], seconds: SECONDS, headers })
          deepStrictEqual(found.failed, 0)
          return found
        }
        const known = pages.find((page) => page.path === path)?.etag as string
        // In turn, so that whatever else the machine does meets all. An answer changes with time, and its tag with it.
        const theirs = await ask(bare, known)
        const same = await ask(sameFields, known)
        const ours = await ask(api, (await page(path)).etag)
        rounds.push({ ours, theirs, same })
      }
      const rate = median(rounds.map(({ ours }) => ours.perSecond))
      const against = (of: (round: (typeof rounds)[number]) => Load) => {
        const byClock = median(rounds.map((round) => round.ours.perSecond / of(round).perSecond))
        const byCpu = median(rounds.map((round) => of(round).cpuSeconds / round.ours.cpuSeconds))
        return `${byClock.toFixed(2)} by the clock, ${byCpu.toFixed(2)} by CPU time`
      }
      const what = `${path.replace(/0x\w+/, ':address')} ${isConditional ? '304' : `${Buffer.byteLength(body)} bytes`}`
      console.log(
        `${what}: ${rate.toFixed(0)}/s; of a bare Fastify route ${against(({ theirs }) => theirs)} (target: at least ${isConditional ? 0.9 : 0.85}); of one that sends the same header fields ${against(({ same }) => same)}`,
      )
    }
  }
  bare.stop()
  sameFields.stop()
} finally {
  await market.close()
}
