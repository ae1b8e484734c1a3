import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { codeBlocks } from '../../support/markdown.js'
import { T4_NONCES } from '../../support/paying.js'
import { test as base } from '../../support/payments.js'
import { stableAddress } from '../../support/rows.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TSC = join(ROOT, 'node_modules/.bin/tsc')

/** Runs a program in a folder of its own, and returns what it wrote. */
type Run = (command: string, ...args: string[]) => Promise<string>

const test = base.extend<{ folder: string; run: Run }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'plumbline-typescript-'))
    await use(folder)
    await rm(folder, { recursive: true })
  },
  run: async ({ folder }, use) => {
    await use(async (command, ...args) => {
      const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: folder }).catch((error) => {
        throw new Error(`${command} ${args}: ${error.stdout}${error.stderr}`)
      })
      return `${stdout}${stderr}`
    })
  },
})

const SETTINGS = {
  compilerOptions: { strict: true, module: 'nodenext', target: 'es2023', skipLibCheck: true, types: [], outDir: 'out' },
  include: ['*.ts'],
}

/** What a user would do first, and every error that they have to expect. */
const program = (url: string): string => `
import { createClient, PaymentRequiredError, TooManyRequestsError, UnknownStableError } from 'plumbline-client'

declare const console: { log: (...values: unknown[]) => void }
const plumbline = createClient({ baseUrl: '${url}' })
const address = '${stableAddress(1)}'
const { stablecoins } = await plumbline.listStablecoins()
console.log(stablecoins.length, 'stables')
const { stablecoins: past } = await plumbline.listStablecoins({ as_of: '1m' })
console.log(past.map(({ supply }) => typeof supply?.current).join(), 'amounts')
const failed = async (request: PromiseLike<unknown>): Promise<unknown> =>
  request.then(() => null, (error: unknown) => error)
const missing = await failed(plumbline.getPeg({ address: '0x' + 'dead'.repeat(10) }))
console.log(missing instanceof UnknownStableError, 'unknown stable')
const unpaid = await failed(plumbline.getAnalysis({ address }))
console.log(unpaid instanceof PaymentRequiredError && unpaid.price, 'is the price')
for await (const message of plumbline.streamEvents()) {
  console.log('the stream begins with', message.event)
  break
}
// The limit is reached by these; the last one waits for the time that the answer names.
const impatient = createClient({ baseUrl: '${url}', retries: 0 })
let refused: unknown = null
while (refused === null) refused = await failed(impatient.listStablecoins())
console.log(refused instanceof TooManyRequestsError, 'too many requests')
console.log((await plumbline.getStatus()) !== null, 'answered after the wait')
`

test('the package is packed and installed from its file, and its README and a strict program work', async ({
  chain,
  folder,
  run,
  serve,
}) => {
  await run('npm', 'pack', join(ROOT, 'clients/typescript'), '--pack-destination', folder)
  const [file = ''] = await readdir(folder)
  expect(file).toBe('plumbline-client-0.1.0.tgz')
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  await run('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${file}`)
  // Those that a payer brings.
  for (const name of ['mppx', 'viem'])
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  await mkdir(join(folder, 'out'))

  const { url } = await serve()
  const limited = await serve(null, undefined, 30)
  const blocks = codeBlocks('clients/typescript/README.md').filter(({ language }) => language === 'ts')
  const adapted = blocks.map(({ code }) =>
    `declare const console: { log: (...values: unknown[]) => void }\n${code}`
      .replaceAll('http://127.0.0.1:3000', url)
      .replaceAll('ABUSD', 'S1')
      .replaceAll('http://127.0.0.1:8545', chain.rpcUrl),
  )
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(SETTINGS))
  for (const [i, code] of adapted.entries()) await writeFile(join(folder, `readme-${i}.ts`), `${code}\nexport {}\n`)
  await writeFile(join(folder, 'program.ts'), `${program(limited.url)}\nexport {}\n`)
  await run(TSC, '-p', '.')

  const printed: string[] = []
  // No sample comes in this test, for which the program about the stream waits.
  for (const [i, code] of adapted.entries())
    if (!code.includes('streamEvents')) printed.push(await run('node', ...T4_NONCES, `out/readme-${i}.js`))
  expect(printed[0]).toMatch(/^S1 /m)
  expect(printed.join('')).toContain('not a tracked stable')
  // The last program pays, and prints the briefing.
  expect(printed.at(-1)).toContain('risk_basis')

  const lines = (await run('node', 'out/program.js')).trim().split('\n')
  expect(lines).toEqual([
    '2 stables',
    'string,string amounts',
    'true unknown stable',
    '0.05 is the price',
    'the stream begins with ready',
    'true too many requests',
    'true answered after the wait',
  ])
})
