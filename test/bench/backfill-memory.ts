// The most memory that backfills of different lengths hold, and how much of it was in use after a collection of the whole
// heap. They read the logs of busy blocks from a pruned node, as a local one would keep 30 GB of states for 20,000 blocks. node dist/test/bench/backfill-memory.js [--blocks 1000,20000]
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runBackfill } from './backfill-process.js'
import { startBusyChain } from './busy-chain.js'
import { begunDatabase } from './segments.js'
import { startStack } from './stack.js'

const { values: flags } = parseArgs({ options: { blocks: { type: 'string', default: '1000,20000' } } })
const lengths = flags.blocks.split(',').map(Number)

const stack = await startStack()
let stop = async () => {}
try {
  const chain = await startBusyChain(join(stack.dir, 'chain'), Math.max(...lengths), { pruned: true })
  stop = chain.stop
  const peaks: number[] = []
  for (const length of lengths) {
    const database = await begunDatabase(stack, `of_${length}`, chain.rpcUrl)
    const range = { from: chain.from, to: chain.from + length - 1 }
    const { peakMb, heapMb, seconds, logs } = await runBackfill(database, chain.rpcUrl, range)
    peaks.push(peakMb)
    console.log(
      `${length} blocks, ${logs} logs: at most ${peakMb.toFixed(0)} MB resident, ` +
        `${heapMb.toFixed(0)} MB in use after a collection, ${(length / seconds).toFixed(0)} blocks/s`,
    )
  }
  console.log(`last to first: ${((peaks.at(-1) ?? 0) / (peaks[0] ?? 0)).toFixed(2)} (target: flat)`)
} finally {
  await stop()
  await stack.close()
}
