// Blocks and logs per second of a backfill of busy blocks, against a loop that makes the same calls and throws the answers
// away; and the most memory that backfills of different lengths hold.
// node dist/bench/backfill.js [--blocks 5000] [--rounds 3] [--memory 1000,20000]
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runBackfill } from './backfill-process.js'
import { startBusyChain } from './busy-chain.js'
import { drainNode, recordCalls } from './drain.js'
import { median, timed } from './measure.js'
import { statsOf } from './process-stats.js'
import { begunDatabase, environment } from './segments.js'
import { rows, startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: {
    blocks: { type: 'string', default: '5000' },
    rounds: { type: 'string', default: '3' },
    memory: { type: 'string', default: '1000,20000' },
  },
})
const [blocks, rounds] = [Number(flags.blocks), Number(flags.rounds)]
const lengths = flags.memory.split(',').filter(Boolean).map(Number)

const stack = await startStack()
let stop = async () => {}
try {
  const longest = Math.max(blocks, ...lengths)
  const building = performance.now()
  const chain = await startBusyChain(`${stack.dir}/chain`, longest)
  stop = chain.stop
  console.log(
    `${longest} blocks of 20 transactions are mined after ${((performance.now() - building) / 1000).toFixed(0)} s`,
  )
  const nodePid = Number(await readFile(join(stack.dir, 'chain', 'anvil.pid'), 'utf8'))
  const cpu = () => ({ node: statsOf(nodePid).cpuSeconds, engine: statsOf(stack.pid).cpuSeconds })
  const range = (length: number) => ({ from: chain.from, to: chain.from + length - 1 })
  const backfill = async (name: string, length: number) => {
    const database = await begunDatabase(stack, name, chain.rpcUrl)
    const before = cpu()
    const done = await runBackfill(environment(database, chain.rpcUrl), range(length))
    const after = cpu()
    const cpuElsewhere = { node: after.node - before.node, engine: after.engine - before.engine }
    const [counted] = await rows<{ blocks: number; logs: number }>(
      database.clickhouse,
      `SELECT toUInt32(count()) AS blocks, toUInt32(sum(log_count)) AS logs FROM blocks WHERE block_number BETWEEN ${chain.from} AND ${range(length).to}`,
    )
    if (counted?.blocks !== length) throw new Error(`${counted?.blocks} of ${length} blocks are in`)
    return { ...done, cpuElsewhere, logs: counted.logs }
  }

  const calls = await recordCalls(await begunDatabase(stack, 'recorded', chain.rpcUrl), chain.rpcUrl, range(blocks))
  const count = calls.reduce((sum, { blocks, states }) => sum + blocks.length + states.length, 0)
  console.log(`a backfill of ${blocks} blocks makes ${count} calls`)
  const [ours, theirs, drained, filled]: [number[], number[], string[], string[]] = [[], [], [], []]
  let logs = 0
  for (let round = 0; round < rounds; round++) {
    const database = await stack.database('drained')
    const [before, own] = [cpu(), process.cpuUsage()]
    theirs.push(blocks / ((await timed(() => drainNode(database, chain.rpcUrl, calls))) / 1000))
    const { user, system } = process.cpuUsage(own)
    const between = cpu()
    drained.push(`${(between.node - before.node).toFixed(1)} node + ${((user + system) / 1e6).toFixed(1)} loop`)
    const done = await backfill(`round_${round}`, blocks)
    ours.push(blocks / done.seconds)
    const { node, engine } = done.cpuElsewhere
    filled.push(`${node.toFixed(1)} node + ${done.cpuSeconds.toFixed(1)} backfill + ${engine.toFixed(1)} engine`)
    logs = done.logs
  }
  const report = (what: string, rates: number[], cpuSeconds: string[]) => {
    const rate = median(rates)
    const each = rates.map((value) => value.toFixed(0)).join(' ')
    console.log(`${what}: ${rate.toFixed(0)} blocks/s, ${((rate * logs) / blocks).toFixed(0)} logs/s   (${each})`)
    console.log(`                      CPU seconds: ${cpuSeconds.join('; ')}`)
  }
  report('fetch and throw away', theirs, drained)
  report('backfill            ', ours, filled)
  console.log(`ratio of medians    : ${(median(ours) / median(theirs)).toFixed(2)} (target: at least 0.8)`)

  for (const length of lengths) {
    const { peakMb, seconds } = await backfill(`memory_${length}`, length)
    console.log(`${length} blocks: at most ${peakMb.toFixed(0)} MB resident, ${(length / seconds).toFixed(0)} blocks/s`)
  }
} finally {
  await stop()
  await stack.close()
}
