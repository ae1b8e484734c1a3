import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { payee } from '../../../local/chain/accounts.js'
import { codeBlocks } from '../../support/markdown.js'
import { balanceOf, T4_NONCES } from '../../support/paying.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const MAIN = join(ROOT, 'dist/local/main.js')

/** The line that shows the local chain's address. */
const CHAIN = /^chain {7}devnet at (\S+)/m

let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plumbline-start-'))
})
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true })
})

type Run = {
  child: ChildProcess
  output: () => string
  printed: (text: string | RegExp, seconds?: number) => Promise<string>
  exited: Promise<number | null>
}

/** Runs `npm start` on free ports, with a short history so that a start takes seconds. */
function start(env: Record<string, string> = {}): Run {
  const ports = { PORT: '0', CLICKHOUSE_PORT: '0', DEVNET_PORT: '0' }
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      DEVNET_HISTORY_HOURS: '2',
      ...ports,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    child,
    output: () => output,
    exited,
    printed: async (text, seconds = 240) => {
      for (const until = Date.now() + seconds * 1000; Date.now() < until; await sleep(50)) {
        const match = output.match(text)
        if (match) return match[1] ?? match[0]
        if (child.exitCode !== null) break
      }
      throw new Error(`the output does not contain ${text}\n${output}`)
    },
  }
}

/** Processes whose command line contains the data directory, as those of all parts and of anvil do. */
async function leftovers(): Promise<string[]> {
  const pgrep = spawn('pgrep', ['-af', dataDir])
  let listed = ''
  pgrep.stdout.on('data', (chunk) => (listed += chunk))
  await new Promise((resolve) => pgrep.once('close', resolve))
  return listed.split('\n').filter((line) => line !== '' && !line.includes('pgrep'))
}

const stablesAt = async (url: string) => {
  const response = await fetch(url)
  return (await response.json()) as {
    stablecoins: Array<{ symbol: string; currency: string; tier: string; peg: { price: number } | null }>
  }
}

/** Expects each part to use its own account, which has the rights that its work needs and no more. */
async function expectLeastRights(clickhouse: string, database: string): Promise<void> {
  const password = async (name: string) => (await readFile(join(dataDir, `${name}.password`), 'utf8')).trim()
  const passwords = {
    default: await password('clickhouse'),
    plumbline_write: await password('clickhouse-write'),
    plumbline_read: await password('clickhouse-read'),
  }
  const ask = async (user: keyof typeof passwords, query: string) => {
    const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': passwords[user] }
    const response = await fetch(clickhouse, { method: 'POST', body: query, headers })
    return { status: response.status, text: await response.text() }
  }
  await ask('default', 'SYSTEM FLUSH LOGS')
  const { text } = await ask(
    'default',
    "SELECT DISTINCT extract(http_user_agent, 'plumbline-[a-z]+') AS part, user FROM system.query_log WHERE part != '' ORDER BY part, user",
  )
  // Jobs appear only if they have run a query by now.
  const jobs = ['plumbline-jobs\tplumbline_write', 'plumbline-webhooks\tplumbline_write']
  expect(
    text
      .trim()
      .split('\n')
      .filter((line) => !jobs.includes(line)),
  ).toEqual([
    'plumbline-api\tplumbline_read',
    'plumbline-api\tplumbline_write',
    'plumbline-ingest\tplumbline_write',
    'plumbline-migrate\tdefault',
  ])
  expect((await ask('plumbline_read', `TRUNCATE TABLE ${database}.blocks`)).status).toBe(403)
  for (const user of ['plumbline_read', 'plumbline_write'] as const) {
    expect((await ask(user, 'CREATE DATABASE more')).status, user).not.toBe(200)
  }
  const file = join(dataDir, 'clickhouse.users.json')
  for (const secret of Object.values(passwords)) expect(await readFile(file, 'utf8')).not.toContain(secret)
  for (const name of (await readdir(dataDir)).filter((name) => /password|users|key/.test(name))) {
    expect((await stat(join(dataDir, name))).mode & 0o077, name).toBe(0)
  }
}

/** The URL of a route with a price. */
const paidRoute = (url: string): string => `${url}/0x20c0000000000000000000000000000000000000/analysis`

/** The status of a route with a price, requested with a key. */
async function paidStatus(url: string, key: string): Promise<number> {
  return (await fetch(paidRoute(url), { headers: { authorization: `Bearer ${key}` } })).status
}

/** The documented commands that pay for requests. */
const paymentRecipe = (): string =>
  codeBlocks('docs/recipes.md').find(({ heading }) => heading === 'Pay for a request')?.code ?? ''

/** Runs those commands against this API and node; what they printed. */
async function followRecipe(api: string, node: string): Promise<string> {
  const code = paymentRecipe()
    .replaceAll('http://127.0.0.1:3000', new URL(api).origin)
    .replaceAll('http://127.0.0.1:8545', node)
    // The same tool, without asking the registry for it.
    .replaceAll(/npx -y( -p \S+)+ /g, '')
  const PATH = `${join(ROOT, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  const env = { ...process.env, PATH, NODE_OPTIONS: T4_NONCES.join(' ') }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', code], { env, maxBuffer: 2 ** 26 })
  return stdout
}

/** Makes a new API key with the admin key. */
async function makeKey(url: string, adminKey: string): Promise<string> {
  const response = await fetch(new URL('/api/admin/keys', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ label: 'of the test' }),
  })
  return ((await response.json()) as { key: string }).key
}

describe('npm start', { timeout: 900_000 }, () => {
  let blocksBefore = 0
  let key = ''
  let earned = 0n

  test('serves a peg and a filled window for every dollar stable, and Ctrl-C leaves no process running', async () => {
    const run = start()
    const url = `${await run.printed(/^open (\S+)$/m)}api/v1/stablecoins`
    await run.printed(/caught up at block/)
    const { stablecoins } = await stablesAt(url)
    expect(stablecoins.length).toBeGreaterThanOrEqual(9)
    expect(stablecoins.filter(({ tier }) => tier !== 'listed')).toEqual([])
    expect(stablecoins.filter(({ currency, peg }) => currency === 'USD' && peg === null)).toEqual([])
    const peg = (await (await fetch(`${url}/0x20c0000000000000000000000000000000000000/peg`)).json()) as {
      current: { block_number: number }
      windows: Array<{ sample_count: number }>
    }
    expect(peg.windows.every(({ sample_count }) => sample_count >= 60)).toBe(true)
    blocksBefore = peg.current.block_number
    const adminKey = await run.printed(/^admin key {3}(ak_\S+) \(shown only once/m)
    key = await makeKey(url, adminKey)
    await expect.poll(() => paidStatus(url, key), { timeout: 60_000 }).toBe(200)
    await expectLeastRights(await run.printed(/^clickhouse {2}(\S+)/m), await run.printed(/into database (\S+)/))
    const chain = await run.printed(CHAIN)
    const balance = await balanceOf(chain, payee)
    // The key that the recipe has is the one that is shown.
    expect(paymentRecipe()).toContain(await run.printed(/^payer {7}0x\w{40} .*\n {12}key (0x\w{64}) \(public/m))
    const answers = await followRecipe(url, chain)
    const fields = ['risk_basis', 'tx_count', 'usd_value', 'errors']
    expect(fields.filter((field) => answers.includes(`"${field}":`))).toEqual(['risk_basis', 'tx_count', 'usd_value'])
    earned = await balanceOf(chain, payee)
    expect(earned - balance).toBe(50_000n + 20_000n + 20_000n)
    run.child.kill('SIGINT')
    expect(await run.exited).toBe(0)
    expect(await leftovers()).toEqual([])
  })

  test('a second start continues with the same data, and a part that dies is restarted', async () => {
    const run = start()
    const url = `${await run.printed(/^open (\S+)$/m)}api/v1/stablecoins`
    expect(run.output()).toContain('schema      up to date')
    expect(run.output()).not.toContain('LOST')
    expect(run.output()).toMatch(/^admin key {3}in /m)
    expect(run.output()).not.toContain('ak_')
    // The status is 503 until the keys have been read, which a slow database delays.
    await expect.poll(() => paidStatus(url, key), { timeout: 60_000 }).toBe(200)
    expect(await balanceOf(await run.printed(CHAIN), payee)).toBe(earned)
    const address = await run.printed(/^clickhouse {2}(\S+) /m)
    const engine = async (program: string) => {
      const [line] = (await leftovers()).filter((line) => line.includes(`engine/${program}.js`))
      return Number(line?.split(' ')[0])
    }
    const server = await engine('server-main')
    // The engine reads SQL from strangers: it gets no password or key, neither itself nor through the process that starts it.
    expect(await readFile(`/proc/${server}/environ`, 'utf8')).not.toMatch(/PASSWORD|KEY/)
    expect(run.output()).toContain('sandbox     on')
    process.kill(server, 'SIGKILL')
    await run.printed(/the server ended by SIGKILL; restarting it/)
    await run.printed(/the server is running again/)
    expect(await (await fetch(`${address}/ping`)).text()).toBe('Ok.\n')
    process.kill(await engine('main'), 'SIGKILL')
    await run.printed(/clickhouse DIED/)
    await run.printed(/clickhouse is running again/)
    expect(await (await fetch(`${address}/ping`)).text()).toBe('Ok.\n')
    await sleep(3000)
    const peg = (await (await fetch(`${url}/0x20c0000000000000000000000000000000000000/peg`)).json()) as {
      current: { block_number: number }
    }
    expect(peg.current.block_number).toBeGreaterThan(blocksBefore)

    // The API's user may read parts and replicas, but no disks.
    const metrics = await (await fetch(new URL('/metrics', url))).text()
    for (const [what, readable] of [
      ['disks', 0],
      ['parts', 1],
      ['replicas', 1],
    ])
      expect(metrics).toContain(`plumbline_storage_readable{what="${what}"} ${readable}`)
    expect(metrics).toMatch(/^plumbline_table_partition_parts\{table="peg_samples"\} [1-9]/m)

    const second = start()
    expect(await second.exited).not.toBe(0)
    expect(second.output()).toMatch(/plumbline stops: .*in use/)

    run.child.kill('SIGKILL')
    await run.exited
    for (const until = Date.now() + 120_000; Date.now() < until && (await leftovers()).length > 0; ) await sleep(100)
    expect(await leftovers()).toEqual([])
  })

  test('one error names all bad variables before anything starts', async () => {
    const run = start({
      PORT: 'http',
      RPC_URL: 'node',
      DEVNET_STABLES: '1',
      LOG_LEVEL: 'loud',
      CLICKHOUSE_DATABASE: 'a-b',
    })
    expect(await run.exited).toBe(78)
    for (const name of ['PORT', 'RPC_URL', 'DEVNET_STABLES', 'LOG_LEVEL', 'CLICKHOUSE_DATABASE']) {
      expect(run.output()).toMatch(new RegExp(`[:;] ${name}: `))
    }
  })

  test('a port in use ends the start with a message that names the port', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const port = String((taken.address() as { port: number }).port)
    const other = await mkdtemp(join(tmpdir(), 'plumbline-port-'))
    for (const name of ['PORT', 'CLICKHOUSE_PORT', 'DEVNET_PORT']) {
      const run = start({ [name]: port, DATA_DIR: other })
      expect(await run.exited, name).not.toBe(0)
      expect(run.output(), name).toMatch(new RegExp(`plumbline stops: .*port ${port} is in use`))
    }
    taken.close()
    await rm(other, { recursive: true, force: true })
  })
})
