import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ClickHouseClient } from '@clickhouse/client'
import { pino } from 'pino'
import { afterAll, beforeAll, expect } from 'vitest'
import { buildApp } from '../../../api/app.js'
import type { Verification } from '../../../clients/cli/src/verify/verify.js'
import { createRpc } from '../../../local/chain/rpc.js'
import { startServer } from '../../support/answering.js'
import { stillChain } from '../../support/chain.js'
import { ingestAll } from '../../support/ingest.js'
import { type CopyTo, withIngested } from '../../support/ingested.js'
import { codeBlocks } from '../../support/markdown.js'
import type { TestChain } from '../../support/own-chain.js'
import { runJobs } from '../../support/ran-slots.js'
import { addFacts, stableAddress, stablecoin, stateRead } from '../../support/rows.js'
import { test as base } from '../../support/services.js'
import { requireTool } from '../../support/tools.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const README = 'clients/cli/README.md'
// Four hours: the README asks about three hours ago.
const CHAIN = { historyBlocks: 240, blockSeconds: 60, seed: 1 }
const HOSTILE = 'X\u001b[2J\u202e\n'

let chain: TestChain
let folder: string
beforeAll(async () => {
  chain = await stillChain(CHAIN)
  folder = await mkdtemp(join(tmpdir(), 'plumbline-cli-'))
  const run = promisify(execFile)
  await run('npm', ['pack', join(ROOT, 'clients/cli'), '--pack-destination', folder], { cwd: folder })
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true }))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', './plumbline-cli-0.1.0.tgz'], { cwd: folder })
})
afterAll(async () => {
  await chain?.remove()
  await rm(folder, { recursive: true, force: true })
})

type Ran = { code: number | null; stdout: string; stderr: string }
/** Runs a line of a shell in the folder in which the package is installed, with the service and the node of the test. */
type Shell = (line: string, env?: Record<string, string>) => Promise<Ran>

const BIN = () => join(folder, 'node_modules/.bin')
const environment = (url: string) => ({
  PATH: `${BIN()}${delimiter}${process.env.PATH}`,
  PLUMBLINE_URL: url,
  PLUMBLINE_RPC_URL: chain.rpcUrl,
})

const test = base.extend<{
  copyChain: CopyTo
  /** Starts the API over what is stored then, at a port of its own or at a given one. */
  serve: (port?: number) => Promise<{ url: string; port: number; close: () => Promise<void> }>
}>({
  copyChain: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) => withIngested(chain, {}, use),
    { scope: 'file' },
  ],
  serve: async ({ clickhouse }, use) => {
    const running: Array<() => Promise<void>> = []
    await use(async (port = 0) => {
      const app = await buildApp({ clickhouse, now: () => new Date(), logger: pino({ level: 'silent' }) })
      await app.listen({ host: '127.0.0.1', port })
      let closed: Promise<void> | undefined
      const close = (): Promise<void> => {
        closed ??= app.close()
        return closed
      }
      running.push(close)
      const at = (app.server.address() as AddressInfo).port
      return { url: `http://127.0.0.1:${at}`, port: at, close }
    })
    for (const close of running) await close()
  },
})

const shellOf =
  (url: string): Shell =>
  (line, env = {}) =>
    new Promise((resolve) =>
      execFile('sh', ['-c', line], { cwd: folder, env: { ...environment(url), ...env } }, (error, stdout, stderr) =>
        resolve({ code: error ? (typeof error.code === 'number' ? error.code : null) : 0, stdout, stderr }),
      ),
    )

const change = (clickhouse: ClickHouseClient, query: string) =>
  clickhouse.command({ query, clickhouse_settings: { mutations_sync: '2', lightweight_deletes_sync: '2' } })

/** The figures that do not match, in order. */
const wrongIn = ({ findings }: Verification): string[] =>
  findings.filter(({ status }) => status === 'mismatch').map(({ what }) => what)

test('every command of the README works in a clean folder', async ({ clickhouse, clickhouseEnv, copyChain, serve }) => {
  await copyChain(clickhouse, clickhouseEnv)
  await runJobs(clickhouse, ['peg-events'])
  const { url } = await serve()
  const shell = shellOf(url)
  const commands = codeBlocks(README)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.trim().split('\n'))
  expect(commands.length).toBeGreaterThan(8)
  const printed = new Map<string, string>()
  for (const command of commands.filter((line) => !line.includes('watch'))) {
    const { code, stdout, stderr } = await shell(command.replace('http://127.0.0.1:8545', chain.rpcUrl))
    expect([command, code, stderr], stdout).toEqual([command, 0, ''])
    if (command.includes('--json')) JSON.parse(stdout)
    printed.set(command, stdout)
  }
  expect(printed.get('plumbline list')).toMatch(/^DFUSD +[01]\.\d{6} .*0x20c0[0-9a-f]{36}/m)
  expect(printed.get('plumbline breaks')).toMatch(/^complete from .* until /m)
  expect(printed.get('plumbline breaks --since 7d --json')).toContain('"severity"')
  expect(printed.get('plumbline peg ABUSD --as-of 3h')).toMatch(/^24h +\d+/m)
  expect((await shell('npx --no -- plumbline --version')).stdout).toBe('0.1.0\n')

  for (const [line, message] of [
    ['plumbline pegs', 'there is no command'],
    ['plumbline peg NONE', 'there is no stable NONE'],
    [`plumbline peg ${stableAddress(77)}`, '404: '],
    ['plumbline peg ABUSD --as-of yesterday', '400: '],
    ['plumbline list --url http://127.0.0.1:3', 'ECONNREFUSED'],
    ['plumbline verify ABUSD --rpc http://127.0.0.1:3', 'did not answer eth_chainId'],
  ] as const) {
    const { code, stdout, stderr } = await shell(line)
    expect([line, code, stdout, stderr.trim().split('\n').length]).toEqual([line, 2, '', 1])
    expect(stderr, line).toContain(message)
  }

  await addFacts(clickhouse, {
    stablecoins: [stablecoin(9, { symbol: HOSTILE, name: HOSTILE }), stablecoin(10, { symbol: 'ABUSD' })],
    states: [stateRead(stableAddress(9)), stateRead(stableAddress(10))],
  })
  const { url: withStrangers } = await serve()
  const among = shellOf(withStrangers)
  const listed = await among('plumbline list')
  expect(listed.stdout).toContain('X\\u{1b}[2J\\u{20…')
  for (const line of ['plumbline list', 'plumbline list --json'])
    expect((await among(line)).stdout.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
  const ambiguous = await among('plumbline peg ABUSD')
  expect([ambiguous.code, ambiguous.stdout]).toEqual([2, ''])
  expect(ambiguous.stderr).toMatch(/2 stables have the symbol ABUSD.*0x20c0.*0x20c1/)
  expect(ambiguous.stderr).toContain(stableAddress(10))
})

test('verify matches what is stored of an honest chain, and finds each row that is wrong', async ({
  clickhouse,
  clickhouseEnv,
  copyChain,
  serve,
}) => {
  await copyChain(clickhouse, clickhouseEnv)
  const { url } = await serve()
  const verified = async (stable: string, at: string, from = url) => {
    const { code, stdout, stderr } = await shellOf(from)(`plumbline verify ${stable} --at ${at} --json`)
    return { code, stderr, verification: JSON.parse(stdout || '{}') as Verification }
  }
  const { stdout } = await shellOf(url)('plumbline list --json')
  const { stablecoins } = JSON.parse(stdout) as { stablecoins: { address: string; symbol: string }[] }
  expect(stablecoins.length).toBeGreaterThan(8)
  const statuses = new Set<string>()
  // Every stable of the market, those without a price too, at instants between blocks and in them.
  for (const { address, symbol } of stablecoins)
    for (const at of ['7m', '2h', '211m']) {
      const { code, stderr, verification } = await verified(address, at)
      const { findings } = verification
      expect([symbol, at, stderr, findings.filter(({ status }) => status !== 'match')]).toEqual([symbol, at, '', []])
      expect([symbol, code, findings.length > 9]).toEqual([symbol, 0, true])
      for (const { published } of findings) statuses.add(JSON.stringify(published))
      for (const { block_hash } of findings) expect(block_hash).toMatch(/^0x[0-9a-f]{64}$/)
      // By a replay of the exchange's logs, without any state, the quotes are the same.
      if (at === '2h') {
        const byLogs = await verified(address, `${verification.as_of} --logs`)
        expect(byLogs.verification.findings.filter(({ what }) => what !== 'as_of')).toEqual(findings)
      }
    }
  expect(statuses.size).toBeGreaterThan(100)

  const honest = await verified('DFUSD', '2h')
  const { address, as_of, findings } = honest.verification
  const blockOf = (what: string): number => findings.find((finding) => finding.what === what)?.block_number as number
  const [priced, deep] = [blockOf('current.price_vs_refusd'), blockOf('depth.sell 1000')]
  // By a new service each time, so that no answer comes from its memory.
  const again = async () => {
    const service = await serve()
    const result = await verified('DFUSD', as_of, service.url)
    await service.close()
    return result
  }
  expect((await again()).code).toBe(0)
  const here = `stable = '${address}'`

  await change(clickhouse, `ALTER TABLE state_reads UPDATE supply_raw = supply_raw + 1 WHERE ${here}`)
  expect(wrongIn((await again()).verification)).toEqual(['supply.current'])
  await change(
    clickhouse,
    `ALTER TABLE state_reads UPDATE supply_raw = supply_raw - 1, paused = NOT paused WHERE ${here}`,
  )
  expect(wrongIn((await again()).verification)).toEqual(['policy.paused'])
  await change(clickhouse, `ALTER TABLE state_reads UPDATE paused = NOT paused WHERE ${here}`)

  const ofDepth = `${here} AND block_number = ${deep} AND size_tokens = 10000`
  await change(clickhouse, `ALTER TABLE depth_samples UPDATE sell_raw = sell_raw + 1 WHERE ${ofDepth}`)
  expect(wrongIn((await again()).verification)).toEqual(['depth.sell 10000'])
  await change(clickhouse, `ALTER TABLE depth_samples UPDATE sell_raw = sell_raw - 1 WHERE ${ofDepth}`)
  expect((await again()).code).toBe(0)

  const ofPrice = `${here} AND block_number = ${priced}`
  await change(clickhouse, `ALTER TABLE peg_samples UPDATE sell_micros = sell_micros + 1 WHERE ${ofPrice}`)
  const bent = await again()
  expect([bent.code, ...wrongIn(bent.verification).slice(0, 3)]).toEqual([
    1,
    'current.price_vs_refusd',
    'current.spread_bps',
    'peg.price',
  ])
  const { url: bentUrl } = await serve()
  const lines = await shellOf(bentUrl)(`plumbline verify DFUSD --at ${as_of}`)
  expect(lines.code).toBe(1)
  expect(lines.stdout).toMatch(
    new RegExp(`^mismatch +current\\.price_vs_refusd +published .* node .* block ${priced} 0x`, 'm'),
  )

  // Left out, an older price is published as the current one.
  await change(clickhouse, `DELETE FROM peg_samples WHERE ${ofPrice}`)
  const stale = await again()
  expect([stale.code, wrongIn(stale.verification)[0]]).toEqual([1, 'current.block_number'])
})

test('what a node cannot answer is not checked, and never passes', async ({
  clickhouse,
  clickhouseEnv,
  copyChain,
  serve,
}) => {
  await copyChain(clickhouse, clickhouseEnv)
  const { url } = await serve()
  /** A node that has dropped its states, in front of that of the test. */
  const pruned = await startServer(async (request, response) => {
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    const { id, method } = JSON.parse(body) as { id: number; method: string }
    if (method === 'eth_call')
      return void response.end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'missing trie node' } }),
      )
    const answer = await fetch(chain.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.end(await answer.text())
  })
  const secret = `${pruned}/secret-key`
  const { code, stdout, stderr } = await shellOf(url)('plumbline verify ABUSD --at 1h', { PLUMBLINE_RPC_URL: secret })
  expect([code, stderr]).toEqual([2, ''])
  expect(stdout).toMatch(/^unchecked +price .*missing trie node/m)
  expect(stdout).toContain('0 match, 0 do not, 3 could not be checked')
  expect(stdout).not.toContain('secret-key')
})

test('answers that ask for money, time or patience are one line each', async ({ expect }) => {
  const failing = await startServer((request, response) => {
    const status = Number(new URL(request.url ?? '', 'http://x').pathname.split('/')[1])
    const problem = { type: 'about:blank', title: 'no', status, detail: 'said the service', price: '0.05' }
    response
      .writeHead(status, { 'content-type': 'application/problem+json', 'retry-after': '90' })
      .end(JSON.stringify(problem))
  })
  const shown: string[] = []
  for (const status of [402, 429, 503]) {
    const { code, stderr } = await shellOf(`${failing}/${status}`)('plumbline list')
    shown.push(`${code} ${stderr.trim()}`)
  }
  expect(shown).toEqual([
    '2 plumbline: 402: this answer costs 0.05; a subscription key in PLUMBLINE_KEY makes it free',
    '2 plumbline: 429: too many requests; try again in 1m 30s',
    '2 plumbline: 503: the service is not available; try again in 1m 30s: said the service',
  ])
})

/** Runs a program in a terminal for some seconds, types Ctrl-C, and prints what it wrote and how it ended. */
const IN_A_TERMINAL = `
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
output, end = b'', time.time() + 20
while b'Ctrl-C ends' not in output and time.time() < end:
    if select.select([terminal], [], [], 1)[0]:
        output += os.read(terminal, 65536)
os.write(terminal, b'\\x03')
try:
    while True:
        output += os.read(terminal, 65536)
except OSError:
    pass
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(output)
print('ended with', os.waitstatus_to_exitcode(status))
`

test('watch continues when the service comes back, and Ctrl-C ends it', async ({
  clickhouse,
  clickhouseEnv,
  copyChain,
  serve,
}) => {
  // Terminals are made with it.
  requireTool('python3')
  await copyChain(clickhouse, clickhouseEnv)
  const first = await serve()
  const watching = spawn('plumbline', ['watch', 'ABUSD', '--json'], {
    cwd: folder,
    env: environment(first.url),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  watching.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const comes = async (found: () => boolean): Promise<void> => {
    while (!found())
      await Promise.race([
        once(watching.stdout, 'data'),
        once(watching, 'exit').then(() => {
          if (!found()) throw new Error(`watch ended: ${output}`)
        }),
      ])
  }
  await comes(() => output.includes('"ready"'))
  await first.close()
  const second = await serve(first.port)
  await createRpc(chain.rpcUrl).call('evm_mine')
  await ingestAll(clickhouseEnv, clickhouse, chain.rpcUrl, chain.head + 1)
  await comes(() => output.includes(`"block_number":${chain.head + 1}`))
  const exited = once(watching, 'exit')
  watching.kill('SIGINT')
  expect(await exited).toEqual([0, null])
  for (const line of output.trim().split('\n')) JSON.parse(line)

  const { stdout } = await promisify(execFile)('python3', ['-c', IN_A_TERMINAL, 'plumbline', 'watch'], {
    cwd: folder,
    env: environment(second.url),
  })
  expect(stdout).toContain('SELLS FOR')
  // The cursor is shown again, and the screen is that of before.
  expect(stdout).toContain('\u001b[?25h\u001b[?1049l')
  expect(stdout).toMatch(/ended with 0\n$/)
})
