import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { accounts, users } from '../../accounts.js'
import { call } from '../../calls.js'
import { createRpc } from '../../rpc.js'
import { PATH_USD } from '../../stables.js'
import { blockHash, blockNumber, nodePid, plannedQuotes, processesOf, readQuotes, test, until } from './chain.js'

const Receipt = z.object({ blockNumber: z.string().transform(Number) })

test('a second start continues the same chain, and old blocks can still be called', async ({ start, dataDir }) => {
  const first = await start({ live: true, historyBlocks: 30 })
  await first.historyDone
  await until(async () => (await blockNumber(first.rpcUrl)) >= 33)
  const hash = await blockHash(first.rpcUrl, 33)
  await first.stop()
  expect(await processesOf(dataDir)).toEqual([])
  expect((await readdir(join(dataDir, 'chain'))).sort()).toEqual([
    'chain.json',
    'journal',
    'planned-breaks.csv',
    'planned-flows.csv',
    'token-list.json',
  ])

  const second = await start({ historyBlocks: 999, seed: 5 })
  await second.historyDone
  expect(second.genesisHash).toBe(first.genesisHash)
  expect(second.plan.params).toEqual(first.plan.params)
  expect(await blockHash(second.rpcUrl, 33)).toBe(hash)
  for (const block of [4, 17, 33]) {
    expect(await readQuotes(second.rpcUrl, second.plan, block)).toEqual(plannedQuotes(second.plan, block))
  }
})

test('after a restart the market continues as if it had never stopped', async ({ start }) => {
  const first = await start({ live: true, historyBlocks: 30 })
  await first.historyDone
  await until(async () => (await blockNumber(first.rpcUrl)) >= 33)
  await first.stop()
  const second = await start({ live: true })
  const from = await blockNumber(second.rpcUrl)
  await until(async () => (await blockNumber(second.rpcUrl)) >= from + 4)
  for (let block = from; block <= from + 4; block++) {
    expect(await readQuotes(second.rpcUrl, second.plan, block)).toEqual(plannedQuotes(second.plan, block))
  }
})

test('the same seed and genesis time give the same block hashes', async ({ start, dataDir }) => {
  const first = await start()
  await first.historyDone
  const hash = await blockHash(first.rpcUrl, 'latest')
  await first.stop()
  const copy = join(dataDir, 'copy')
  await mkdir(join(copy, 'chain'), { recursive: true })
  await copyFile(join(dataDir, 'chain', 'chain.json'), join(copy, 'chain', 'chain.json'))
  const second = await start({ dataDir: copy })
  await second.historyDone
  expect(second.genesisHash).toBe(first.genesisHash)
  expect(await blockHash(second.rpcUrl, 'latest')).toBe(hash)
})

test('a kill in the middle of history leaves no node running, and the next start ends up with the same blocks', async ({
  start,
  dataDir,
}) => {
  const first = await start({ historyBlocks: 100 })
  let hash = ''
  let at = 0
  for (const stopAfter of [10, 35, 60]) {
    const running = at === 0 ? first : await start()
    await until(async () => (await blockNumber(running.rpcUrl)) >= stopAfter)
    if (at > 0) expect(await blockHash(running.rpcUrl, at)).toBe(hash)
    at = await blockNumber(running.rpcUrl)
    hash = await blockHash(running.rpcUrl, at)
    running.child.kill('SIGKILL')
    await until(async () => (await processesOf(dataDir)).length === 0)
  }
  const last = await start()
  await last.historyDone
  expect(await blockNumber(last.rpcUrl)).toBe(100)
  expect(await blockHash(last.rpcUrl, at)).toBe(hash)
  expect(last.genesisHash).toBe(first.genesisHash)

  const copy = join(dataDir, 'copy')
  await mkdir(join(copy, 'chain'), { recursive: true })
  await copyFile(join(dataDir, 'chain', 'chain.json'), join(copy, 'chain', 'chain.json'))
  const undisturbed = await start({ dataDir: copy })
  await undisturbed.historyDone
  expect(await blockHash(last.rpcUrl, 'latest')).toBe(await blockHash(undisturbed.rpcUrl, 'latest'))
  for (const block of [at, at + 1, 99, 100]) {
    expect(await readQuotes(last.rpcUrl, last.plan, block)).toEqual(plannedQuotes(last.plan, block))
  }
})

test('a killed node ends the devnet with an error, and the next start has lost nothing', async ({ start, dataDir }) => {
  const lines: string[] = []
  const first = await start({ live: true, historyBlocks: 20, onLog: (line) => lines.push(line) })
  await first.historyDone
  await until(async () => (await blockNumber(first.rpcUrl)) >= 22)
  const hash = await blockHash(first.rpcUrl, 22)
  process.kill(await nodePid(dataDir), 'SIGKILL')
  await until(() => first.child.exitCode !== null)
  expect(first.child.exitCode).toBe(1)
  expect(lines.at(-1)).toMatch(/anvil exited unexpectedly|did not answer/)
  const second = await start()
  expect(await blockHash(second.rpcUrl, 22)).toBe(hash)
})

test('a stop during a replay works and loses nothing', async ({ start, dataDir }) => {
  const first = await start({ historyBlocks: 300 })
  await first.historyDone
  const hash = await blockHash(first.rpcUrl, 'latest')
  await first.stop()
  const env = { ...process.env, DATA_DIR: dataDir, DEVNET_PORT: '0' }
  const main = join(import.meta.dirname, '..', '..', 'dist', 'main.js')
  const second = spawn(process.execPath, [main], { env, stdio: 'ignore' })
  await until(() => existsSync(join(dataDir, 'chain', 'anvil.pid')))
  second.kill('SIGTERM')
  await until(() => second.exitCode !== null)
  expect(second.exitCode).toBe(0)
  expect((await readdir(join(dataDir, 'chain'))).sort()).toEqual([
    'chain.json',
    'journal',
    'planned-breaks.csv',
    'planned-flows.csv',
    'token-list.json',
  ])
  const third = await start()
  await third.historyDone
  expect(await blockHash(third.rpcUrl, 'latest')).toBe(hash)
})

test('a journal line truncated by a power failure loses nothing', async ({ start, dataDir }) => {
  const first = await start()
  await first.historyDone
  const hash = await blockHash(first.rpcUrl, 50)
  await first.stop()
  const journal = join(dataDir, 'chain', 'journal', '1.jsonl')
  const text = await readFile(journal, 'utf8')
  await writeFile(journal, text.slice(0, -100))
  const second = await start()
  await second.historyDone
  expect(await blockNumber(second.rpcUrl)).toBe(60)
  expect(await blockHash(second.rpcUrl, 50)).toBe(hash)
})

test('a chain that cannot be restored is replaced by a new one, and the log reports it', async ({ start, dataDir }) => {
  const first = await start()
  await first.historyDone
  await first.stop()
  const journal = join(dataDir, 'chain', 'journal', '1.jsonl')
  const lines = (await readFile(journal, 'utf8')).split('\n')
  lines.splice(30, 1)
  await writeFile(journal, lines.join('\n'))
  const log: string[] = []
  const second = await start({ onLog: (line) => log.push(line) })
  await second.historyDone
  expect(second.genesisHash).not.toBe(first.genesisHash)
  expect(log.some((line) => line.includes('is lost'))).toBe(true)
  expect(await readQuotes(second.rpcUrl, second.plan, 60)).toEqual(plannedQuotes(second.plan, 60))
})

test('checkpoints replace the first blocks of the journal, and a damaged checkpoint is skipped', async ({
  start,
  dataDir,
}) => {
  const [checkpoints, journal] = ['checkpoints', 'journal'].map((name) => join(dataDir, 'chain', name)) as [
    string,
    string,
  ]
  const first = await start({ historyBlocks: 20, checkpointBlocks: 10, live: true })
  await until(async () => (await blockNumber(first.rpcUrl)) >= 42)
  await first.stop()
  expect((await readdir(checkpoints)).sort()).toEqual(['30.json.gz', '40.json.gz'])
  expect((await readdir(journal)).sort()).toEqual(['31.jsonl', '41.jsonl'])

  const second = await start()
  const head = await blockNumber(second.rpcUrl)
  const hash = await blockHash(second.rpcUrl, 'latest')
  expect(head).toBeGreaterThanOrEqual(42)
  expect(second.genesisHash).toBe(first.genesisHash)
  for (let block = 30; block <= head; block++) {
    expect(await readQuotes(second.rpcUrl, second.plan, block)).toEqual(plannedQuotes(second.plan, block))
  }
  await second.stop()

  await writeFile(join(checkpoints, '30.json.gz'), 'damaged')
  const third = await start()
  expect(await blockHash(third.rpcUrl, 'latest')).toBe(hash)
})

test('transactions of others are included in blocks, and survive restarts', async ({ start, dataDir }) => {
  const first = await start({ live: true, historyBlocks: 30 })
  await first.historyDone
  const transfer = async (rpcUrl: string, amount: bigint): Promise<string> => {
    const made = call.transfer(PATH_USD.address, accounts.suspect.address, amount)
    return String(
      await createRpc(rpcUrl).call('eth_sendTransaction', [{ ...made, from: users[0].address, gas: '0x2dc6c0' }]),
    )
  }
  const receiptOf = (rpcUrl: string, hash: string) => createRpc(rpcUrl).call('eth_getTransactionReceipt', [hash])
  /** Waits until it is in a block with two more behind it. */
  const mined = async (rpcUrl: string, hash: string) => {
    await until(async () => (await receiptOf(rpcUrl, hash)) !== null)
    const receipt = await receiptOf(rpcUrl, hash)
    const { blockNumber: at } = Receipt.parse(receipt)
    await until(async () => (await blockNumber(rpcUrl)) >= at + 2)
    return receipt
  }
  const hashes = [await transfer(first.rpcUrl, 1n), await transfer(first.rpcUrl, 2n)]
  const receipts: unknown[] = []
  for (const hash of hashes) receipts.push(await mined(first.rpcUrl, hash))
  expect(receipts).toMatchObject([{ status: '0x1' }, { status: '0x1' }])
  await first.stop()

  const second = await start({ live: true })
  const later = await transfer(second.rpcUrl, 3n)
  hashes.push(later)
  receipts.push(await mined(second.rpcUrl, later))
  process.kill(await nodePid(dataDir), 'SIGKILL')
  await until(() => second.child.exitCode !== null)

  const third = await start({ live: true })
  for (const [i, hash] of hashes.entries()) expect(await receiptOf(third.rpcUrl, hash)).toEqual(receipts[i])
  const from = await blockNumber(third.rpcUrl)
  await until(async () => (await blockNumber(third.rpcUrl)) >= from + 2)
  expect(await readQuotes(third.rpcUrl, third.plan, from + 2)).toEqual(plannedQuotes(third.plan, from + 2))
})
