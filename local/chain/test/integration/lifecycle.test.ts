import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { processesOf, test, until } from './chain.js'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

test('it leaves no process or temporary folder when it ends', async ({ start, dataDir }) => {
  const devnet = await start({ historyBlocks: 120 })
  await devnet.historyDone
  await devnet.stop()
  expect(devnet.child.exitCode).toBe(0)
  expect(await processesOf(dataDir)).toEqual([])
  expect((await readdir(join(dataDir, 'chain'))).sort()).toEqual([
    'chain.json',
    'journal',
    'planned-breaks.csv',
    'planned-flows.csv',
    'token-list.json',
  ])
})

test('it prints exactly one line on stdout, and a closed stdin ends it', async ({ dataDir }) => {
  const env = { ...process.env, DATA_DIR: dataDir, DEVNET_PORT: '0', DEVNET_HISTORY_HOURS: '0', DEVNET_LIVE: 'off' }
  const child = spawn(process.execPath, [main], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  await until(() => out.includes('\n'))
  child.stdin.end()
  await once(child, 'exit')
  expect(child.exitCode).toBe(0)
  expect(out.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(out)).toMatchObject({
    ready: true,
    rpcUrl: expect.any(String),
    chainId: 1337,
    genesisHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  })
  expect(await processesOf(dataDir)).toEqual([])
})

test('two devnets cannot share a folder', async ({ start, dataDir }) => {
  const first = await start()
  await expect(start()).rejects.toThrow(`in use by another devnet (process ${first.pid})`)
  expect(await readFile(join(dataDir, 'chain', 'devnet.pid'), 'utf8')).toBe(`${first.pid}`)
})

test('a port in use gives one clear message', async ({ start, dataDir }) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await expect(start({ port })).rejects.toThrow(`port ${port} is in use: set DEVNET_PORT to another`)
  server.close()
  expect(await processesOf(dataDir)).toEqual([])
})

test('bad variables give one message that names all of them', async () => {
  const env = { ...process.env, DEVNET_PORT: 'x', DEVNET_STABLES: '1' }
  const failed = await promisify(execFile)(process.execPath, [main], { env }).catch(
    (error: { stderr: string }) => error,
  )
  expect(failed.stderr).toMatch(/^devnet: .*DEVNET_PORT.*DEVNET_STABLES/s)
})

test('the next start ends a node that a killed devnet left running', async ({ start, dataDir }) => {
  const states = join(dataDir, 'chain', 'states')
  await mkdir(states, { recursive: true })
  // Imitates the node: only its command line is checked.
  const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', states], { stdio: 'ignore' })
  await writeFile(join(dataDir, 'chain', 'anvil.pid'), `${orphan.pid}`)
  await writeFile(join(dataDir, 'chain', 'devnet.pid'), '999999')
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  await start()
  expect(orphan.signalCode ?? (await once(orphan, 'exit'))[1]).toBe('SIGKILL')

  // A process id that now belongs to another program is left alone.
  expect(stranger.exitCode).toBeNull()
  stranger.kill()
})
