import { pino } from 'pino'
import { test as base, beforeAll, describe, expect } from 'vitest'
import { readCatalogue } from '../../../../ingest/batch/read-catalogue.js'
import { createRegistry } from '../../../../ingest/knowledge/registry.js'
import { readBlocks } from '../../../../ingest/sources/blocks.js'
import { rpcAt } from '../../../../ingest/sources/rpc.js'
import { useStillChain } from '../../../support/chain.js'
import { type Call, type Change, type ChangedNode, changedNode } from '../../../support/changed-node.js'

const BLOCKS = 60
const chain = useStillChain({ historyBlocks: BLOCKS })

type Log = { blockNumber: string; topics: string[]; logIndex: string }

const test = base.extend<{ nodeThat: (change: Change, ms?: number) => Promise<ChangedNode> }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires the pattern.
  nodeThat: async ({}, use) => {
    const nodes: ChangedNode[] = []
    await use(async (change, ms = 0) => {
      const node = await changedNode(chain.rpcUrl, change, ms)
      nodes.push(node)
      return node
    })
    for (const node of nodes) node.close()
  },
})

/** A client for the nodes of these URLs, and what it logs. */
function clientFor(urls: string[], attempts = 4) {
  const logged: Array<{ reason?: string; node?: string; msg: string }> = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const signal = new AbortController().signal
  const rpc = rpcAt({ urls, finalityDepth: 64, batchSize: 50, timeoutMs: 20_000, attempts, log, signal })
  return { rpc, logged }
}

async function catalogueFrom(urls: string[], attempts?: number) {
  const { rpc } = clientFor(urls, attempts)
  const stables: string[] = []
  for await (const { facts } of readCatalogue({ rpc }, createRegistry([], [], []), { from: 1, to: BLOCKS }))
    stables.push(...facts.stablecoins.map(({ symbol }) => symbol))
  return stables
}

const isOld = ({ blockNumber }: Log): boolean => Number(blockNumber) < BLOCKS / 2
const withoutLogs =
  (isLeftOut: (log: Log, call: Call) => boolean): Change =>
  (answer, call) => {
    if (call.method !== 'eth_getLogs') return
    answer.result = (answer.result as Log[]).filter((log) => !isLeftOut(log, call))
  }

describe('a node that leaves out old logs without an error', () => {
  let expected: string[]
  beforeAll(async () => {
    expected = await catalogueFrom([chain.rpcUrl])
  })

  test.for<[string, Change]>([
    ['that it has dropped', withoutLogs(isOld)],
    [
      'that it has dropped with their receipts',
      (answer, call) => {
        withoutLogs(isOld)(answer, call)
        if (call.method === 'eth_getTransactionReceipt') answer.result = null
      },
    ],
    ['where they are filtered', withoutLogs((log, { params }) => isOld(log) && params[0]?.topics !== undefined)],
  ])('%s: its catalogue is refused, and another node is asked', async ([, change], { nodeThat }) => {
    expect(expected).toHaveLength(14)
    const { url } = await nodeThat(change)
    const refused = await catalogueFrom([`${url}/?key=k3y`], 2).catch((error: Error) => error.message)
    expect(refused).toMatch(/logs of (block|blocks 1)/)
    expect(refused).toContain(`answered by ${new URL(url).host}`)
    expect(refused).not.toContain('k3y')
    expect(await catalogueFrom([url, chain.rpcUrl])).toEqual(expected)
  })

  test('costs a node that leaves out none few more calls', async ({ nodeThat }) => {
    const node = await nodeThat(() => undefined)
    await catalogueFrom([node.url])
    expect(node.calls()).toBeLessThan(80)
  })
})

test.for<[string, string, (result: Record<string, unknown> & Log[]) => unknown]>([
  ['headers that do not form a chain', 'eth_getBlockByNumber', (block) => ({ ...block, parentHash: block.hash })],
  ['headers without their fields', 'eth_getBlockByNumber', ({ number, hash }) => ({ number, hash })],
  ['the header of another block', 'eth_getBlockByNumber', (block) => ({ ...block, number: '0x7' })],
  ['no logs', 'eth_getLogs', () => []],
  ['only the first logs', 'eth_getLogs', (logs) => logs.slice(0, 1)],
  ['garbage for logs', 'eth_getLogs', () => 'logs'],
])('of two nodes, one that answers %s is asked after the other', async ([, method, change], { nodeThat }) => {
  const wrong = await nodeThat((answer, call) => {
    if (call.method === method && answer.result !== null && (call.params[0] as unknown) !== '0x0')
      answer.result = change(answer.result as Record<string, unknown> & Log[])
  })
  // It ranks first because it is the faster one.
  const right = await nodeThat(() => undefined, 200)
  const { rpc, logged } = clientFor([wrong.url, right.url])
  const blocks = await rpc.persist('read them', () => readBlocks(rpc, 20, 23))
  expect(blocks.map(({ number }) => number)).toEqual([20, 21, 22, 23])
  const { host } = new URL(wrong.url)
  expect(logged.map(({ node }) => node)).toContain(host)
  expect(logged.map(({ reason }) => reason)).toContainEqual(expect.stringContaining(host))
})

test('logs of another part of a range are not added to the blocks that they are of', async ({ nodeThat }) => {
  const earlier: Log[] = []
  const added: string[] = []
  const node = await nodeThat((answer, call) => {
    const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string }
    if (call.method !== 'eth_getLogs') return
    if (Number(toBlock) - Number(fromBlock) >= 10)
      Object.assign(answer, { result: undefined, error: { code: 1, message: 'no' } })
    else if (earlier.length === 0) earlier.push(...(answer.result as Log[]))
    else if (added.length < 3) {
      added.push(fromBlock)
      answer.result = [...earlier, ...(answer.result as Log[])]
    }
  })
  const { rpc } = clientFor([node.url], 8)
  const blocks = await rpc.persist('read them', () => readBlocks(rpc, 20, 49))
  expect(added.length).toBeGreaterThan(0)
  expect(blocks).toEqual(await readBlocks(clientFor([chain.rpcUrl]).rpc, 20, 49))
})

test('the first failure of a read that is repeated is logged with what the node said', async ({ nodeThat }) => {
  const { url } = await nodeThat((answer) => {
    Object.assign(answer, { result: undefined, error: { code: -32000, message: 'Forwarder error 1000' } })
  })
  const { rpc, logged } = clientFor([url], 2)
  await expect(rpc.persist('read them', () => readBlocks(rpc, 20, 21))).rejects.toThrow('Forwarder error 1000')
  expect(logged[0]).toMatchObject({ msg: 'read them failed', reason: expect.stringContaining('Forwarder error 1000') })
})
