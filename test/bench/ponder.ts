// A backfill of a busy chain with its quotes and states, against Ponder, which reads only the logs of the same blocks.
// Ponder is installed from npm into a temporary folder. node dist/test/bench/ponder.js [--blocks 1500] [--rounds 3]
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { runBackfill } from './backfill-process.js'
import { startBusyChain } from './busy-chain.js'
import { median } from './measure.js'
import { begunDatabase } from './segments.js'
import { startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: { blocks: { type: 'string', default: '1500' }, rounds: { type: 'string', default: '3' } },
})
const [blocks, rounds] = [Number(flags.blocks), Number(flags.rounds)]

/** The newest that runs on Node 20. */
const VERSIONS = { ponder: '0.16.10', viem: '2.57.0', hono: '4.13.19', typescript: '5.9.3' }

/** Each log of the busy chain's tokens and of the DEX is a row, as Plumbline counts them. */
const FILES = {
  'package.json': '{ "private": true, "type": "module" }',
  'ponder.config.ts': `
    import { createConfig } from 'ponder'
    import { Abis, Addresses } from 'viem/tempo'
    const events = (abi) => abi.filter(({ type }) => type === 'event')
    const range = { startBlock: Number(process.env.FROM), endBlock: Number(process.env.TO) }
    export default createConfig({
      chains: { devnet: { id: Number(process.env.CHAIN_ID), rpc: process.env.RPC_URL } },
      contracts: {
        Token: { abi: events(Abis.tip20), chain: 'devnet', ...range },
        Dex: { abi: events(Abis.stablecoinDex), chain: 'devnet', address: Addresses.stablecoinDex, ...range },
      },
    })`,
  'ponder.schema.ts': `
    import { onchainTable } from 'ponder'
    export const log = onchainTable('log', (t) => ({
      id: t.text().primaryKey(), block: t.bigint(), time: t.bigint(), address: t.hex(), name: t.text(), args: t.json(),
    }))`,
  'src/index.ts': `
    import { ponder } from 'ponder:registry'
    import { log } from 'ponder:schema'
    for (const name of ['Token:Transfer', 'Token:TransferWithMemo', 'Token:Mint', 'Token:Burn', 'Dex:OrderFilled']) {
      ponder.on(name, async ({ event, context }) => {
        const args = JSON.parse(JSON.stringify(event.args, (_, value) => (typeof value === 'bigint' ? String(value) : value)))
        const { number: block, timestamp: time } = event.block
        await context.db.insert(log).values({ id: event.id, block, time, address: event.log.address, name, args })
      })
    }`,
  'src/api/index.ts': `
    import { Hono } from 'hono'
    export default new Hono()`,
}

/** A port of this machine that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const Line = z.object({ msg: z.string(), event_count: z.number().optional() })

/** Lets Ponder read a range, from its start as a process until it has indexed all; the seconds and the rows. */
async function runPonder(dir: string, env: Record<string, string>): Promise<{ seconds: number; rows: number }> {
  await rm(join(dir, '.ponder'), { recursive: true, force: true })
  const args = ['start', '--schema', 'bench', '--port', `${await freePort()}`, '--log-format', 'json']
  const began = performance.now()
  const child = spawn(join(dir, 'node_modules', '.bin', 'ponder'), args, {
    cwd: dir,
    env: { ...process.env, ...env, PONDER_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  let rows = 0
  let seconds: number | null = null
  for await (const text of createInterface({ input: child.stdout })) {
    const { msg, event_count = 0 } = Line.parse(JSON.parse(text))
    if (msg === 'Indexed block range') rows += event_count
    if (msg !== 'Completed indexing across all chains') continue
    seconds = (performance.now() - began) / 1000
    child.kill('SIGTERM')
  }
  await exited
  if (seconds === null) throw new Error('Ponder ended before it had indexed all')
  return { seconds, rows }
}

const stack = await startStack()
let stop = async () => {}
try {
  const dir = join(stack.dir, 'ponder')
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`)
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', ...packages], { cwd: dir, stdio: 'inherit' })

  const chain = await startBusyChain(join(stack.dir, 'chain'), blocks)
  stop = chain.stop
  const env = {
    RPC_URL: chain.rpcUrl,
    CHAIN_ID: `${Number(await chain.rpc.call('eth_chainId'))}`,
    FROM: `${chain.from}`,
    TO: `${chain.to}`,
  }
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const ponder = await runPonder(dir, env)
    const database = await begunDatabase(stack, `round_${round}`, chain.rpcUrl)
    const backfill = await runBackfill(database, chain.rpcUrl, chain)
    theirs.push(blocks / ponder.seconds)
    ours.push(blocks / backfill.seconds)
    console.log(
      `round ${round + 1}: ${backfill.logs} logs with quotes and states in ${backfill.seconds.toFixed(1)} s; ` +
        `Ponder ${ponder.rows} logs in ${ponder.seconds.toFixed(1)} s`,
    )
  }
  console.log(`Ponder ${VERSIONS.ponder}, logs only: ${median(theirs).toFixed(0)} blocks/s`)
  console.log(`Plumbline, logs, quotes and states: ${median(ours).toFixed(0)} blocks/s`)
  console.log(`times as fast: ${(median(ours) / median(theirs)).toFixed(2)}`)
} finally {
  await stop()
  await stack.close()
}
process.exit(0)
