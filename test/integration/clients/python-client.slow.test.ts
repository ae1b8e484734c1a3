import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test as base, expect } from 'vitest'
import { SUBSCRIPTION_KEY } from '../../support/app.js'
import { codeBlocks } from '../../support/markdown.js'
import { withMarket } from '../../support/market.js'
import { requireTool } from '../../support/tools.js'

const CLIENTS = fileURLToPath(new URL('../../../clients', import.meta.url))
/** On disk: pandas and pyarrow take 360 MB, too much for a directory in memory. */
const TEMPORARY = '/var/tmp'

/** Finds the tests of a file, which can import what stands beside them. */
const UNITTEST = ['-m', 'unittest', 'discover', '--start-directory', 'tests', '--pattern']

/** Runs a program in the clean folder, and returns what it wrote. */
type Run = (command: string, ...args: string[]) => Promise<string>

const test = base.extend<{ origin: string; folder: string; run: Run }>({
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
    ({}, use) =>
      withMarket({ historyBlocks: 60, blockSeconds: 300, stables: 9, seed: 3 }, async ({ app }) => {
        await app.listen({ port: 0, host: '127.0.0.1' })
        await use(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
      }),
    { scope: 'file' },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: as above
  folder: async ({}, use) => {
    for (const tool of ['python3', 'venv of python3', 'PyPI'] as const) requireTool(tool)
    const folder = await mkdtemp(join(TEMPORARY, 'plumbline-python-'))
    await cp(join(CLIENTS, 'python/tests'), join(folder, 'tests'), { recursive: true })
    await use(folder)
    await rm(folder, { recursive: true })
  },
  run: async ({ folder, origin }, use) => {
    const env = {
      ...process.env,
      TMPDIR: TEMPORARY,
      PLUMBLINE_URL: origin,
      PLUMBLINE_KEY: SUBSCRIPTION_KEY,
      PYTHONDONTWRITEBYTECODE: '1',
    }
    await use(async (command, ...args) => {
      const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: folder, env }).catch((error) => {
        throw new Error(`${command} ${args}: ${error.stdout}${error.stderr}`)
      })
      return `${stdout}${stderr}`
    })
  },
})

test('the wheel is built and installed from its file, and its tests pass', async ({ folder, run }) => {
  await run('python3', '-m', 'venv', '.venv')
  await run('.venv/bin/pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', 'dist', join(CLIENTS, 'python'))
  const [wheel = ''] = await readdir(join(folder, 'dist'))
  expect(wheel).toBe('plumbline_client-0.1.0-py3-none-any.whl')
  await run('.venv/bin/pip', 'install', '--quiet', join('dist', wheel))
  for (const name of ['test_requests.py', 'test_stream.py', 'test_live.py'])
    expect(await run('.venv/bin/python', ...UNITTEST, name), name).toMatch(/\nOK\n$/)
})

test('everything in its README works, and so do its tables, and the types are strict', async ({
  folder,
  origin,
  run,
}) => {
  await symlink(CLIENTS, join(folder, 'clients'))
  const blocks = codeBlocks('clients/python/README.md')
  for (const { code } of blocks.filter(({ language }) => language === 'sh')) await run('bash', '-euc', code)
  const program = blocks.filter(({ language }) => language === 'python').map(({ code }) => code)
  const printed = await run('.venv/bin/python', '-c', program.join('\n').replaceAll('http://127.0.0.1:3000', origin))
  expect(printed).toMatch(/^PathUSD 1$/m)
  expect(printed).toMatch(/^searched until \d{4}-/m)
  expect(printed).toMatch(/^supply: decimal/m)
  expect(printed).toMatch(/^got \d+$/m)
  expect(printed).toMatch(/^0\.05 of 0x20c0/m)

  expect(await run('.venv/bin/python', ...UNITTEST, 'test_tables.py')).toMatch(/\nOK\n$/)
  await run('.venv/bin/pip', 'install', '--quiet', 'mypy')
  const strict = ['-m', 'mypy', '--config-file', 'clients/python/pyproject.toml']
  await run('.venv/bin/python', ...strict, 'clients/python/src', 'tests')
  await run('.venv/bin/python', ...strict, '-c', program.join('\n'))
})
