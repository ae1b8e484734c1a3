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
  const pages = await Promise.all(
    paths.map(async (path) => {
      const response = await fetch(`${api.url}${path}`)
      return { path, body: await response.text(), etag: response.headers.get('etag') as string }
    }),
  )
  const bare = await startBareServer(pages)
  for (const { path, body, etag } of pages) {
    for (const isConditional of [false, true]) {
      for (const server of [bare, api]) await load(server, { paths: [path], seconds: isConditional ? 1 : WARM_SECONDS })
      const rounds: { ours: Load; theirs: Load }[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const request = { paths: [path], seconds: SECONDS, headers: isConditional ? { 'if-none-match': etag } : {} }
        // In turn, so that whatever else the machine does meets both.
        const theirs = await load(bare, request)
        const ours = await load(api, request)
        deepStrictEqual([ours.failed, theirs.failed], [0, 0])
        rounds.push({ ours, theirs })
      }
      const rate = median(rounds.map(({ ours }) => ours.perSecond))
      const byClock = median(rounds.map(({ ours, theirs }) => ours.perSecond / theirs.perSecond))
      const byCpu = median(rounds.map(({ ours, theirs }) => theirs.cpuSeconds / ours.cpuSeconds))
      const what = `${path.replace(/0x\w+/, ':address')} ${isConditional ? '304' : `${Buffer.byteLength(body)} bytes`}`
      console.log(
        `${what}: ${rate.toFixed(0)}/s; of a bare Fastify route ${byClock.toFixed(2)} by the clock, ${byCpu.toFixed(2)} by CPU time (target: at least ${isConditional ? 0.9 : 0.85})`,
      )
    }
  }
  bare.stop()
} finally {
  await market.close()
}
