// Blocks and logs per second of a backfill of busy blocks, against a loop that makes the same calls and throws the answers
// away. node dist/test/bench/backfill.js [--blocks 5000] [--rounds 3]
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runBackfill } from './backfill-process.js'
import { startBusyChain } from './busy-chain.js'
import { drainNode, recordCalls } from './drain.js'
import { median, timed } from './measure.js'
import { statsOf } from './process-stats.js'
import { begunDatabase } from './segments.js'
import { startStack } from './stack.js'

const { values: flags } = parseArgs({
  options: { blocks: { type: 'string', default: '5000' }, rounds: { type: 'string', default: '3' } },
})
const [blocks, rounds] = [Number(flags.blocks), Number(flags.rounds)]

const stack = await startStack()
let stop = async () => {}
try {
  const chain = await startBusyChain(join(stack.dir, 'chain'), blocks)
  stop = chain.stop
  const nodePid = Number(await readFile(join(stack.dir, 'chain', 'anvil.pid'), 'utf8'))
  const cpu = () => ({ node: statsOf(nodePid).cpuSeconds, engine: statsOf(stack.pid).cpuSeconds })
  const backfill = async (name: string) => {
    const database = await begunDatabase(stack, name, chain.rpcUrl)
    const before = cpu()
    const done = await runBackfill(database, chain.rpcUrl, chain)
    const after = cpu()
    return { ...done, node: after.node - before.node, engine: after.engine - before.engine }
  }

  const recorded = await begunDatabase(stack, 'recorded', chain.rpcUrl)
  const calls = await recordCalls(recorded, chain.rpcUrl, chain)
  const count = calls.reduce((sum, { blocks, states }) => sum + blocks.length + states.length, 0)
  console.log(`a backfill of ${blocks} blocks makes ${count} calls`)
  const [ours, theirs, drained, filled]: [number[], number[], string[], string[]] = [[], [], [], []]
  let logs = 0
  for (let round = 0; round < rounds; round++) {
    const [before, own] = [cpu(), process.cpuUsage()]
    theirs.push(blocks / ((await timed(() => drainNode(recorded, chain.rpcUrl, calls))) / 1000))
    const { user, system } = process.cpuUsage(own)
    const between = cpu()
    drained.push(`${(between.node - before.node).toFixed(1)} node + ${((user + system) / 1e6).toFixed(1)} loop`)
    const done = await backfill(`round_${round}`)
    ours.push(blocks / done.seconds)
    filled.push(
      `${done.node.toFixed(1)} node + ${done.cpuSeconds.toFixed(1)} backfill + ${done.engine.toFixed(1)} engine`,
    )
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
  console.log(`ratio of medians    : ${(median(ours) / median(theirs)).toFixed(2)} (target: at least 0.9)`)
} finally {
  await stop()
  await stack.close()
}
