import { cp, readdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { codeBlocks } from '../../support/markdown.js'
import { PYTHON_CLIENT, test } from '../../support/python.js'

/** Finds the tests of a file, which can import what stands beside them. */
const UNITTEST = ['-m', 'unittest', 'discover', '--start-directory', 'tests', '--pattern']

/** Puts the tests of the package beside its clean environment. */
const addTests = (folder: string): Promise<void> =>
  cp(join(PYTHON_CLIENT, 'tests'), join(folder, 'tests'), { recursive: true })

test('the wheel is built and installed from its file, and its tests pass', async ({ folder, run }) => {
  await addTests(folder)
  await run('python3', '-m', 'venv', '.venv')
  await run('.venv/bin/pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', 'dist', PYTHON_CLIENT)
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
  await addTests(folder)
  await symlink(dirname(PYTHON_CLIENT), join(folder, 'clients'))
  // To pay takes a chain, which the test of payments has.
  const blocks = codeBlocks('clients/python/README.md').filter(({ heading }) => heading !== 'Pay with pympp')
  for (const { code } of blocks.filter(({ language }) => language === 'sh')) await run('bash', '-euc', code)
  const program = blocks.filter(({ language }) => language === 'python').map(({ code }) => code)
  const printed = await run('.venv/bin/python', '-c', program.join('\n').replaceAll('http://127.0.0.1:3000', origin))
  expect(printed).toMatch(/^PathUSD 1$/m)
  expect(printed).toMatch(/^searched until \d{4}-/m)
  expect(printed).toMatch(/^supply: string/m)
  expect(printed).toMatch(/^got \d+$/m)
  expect(printed).toMatch(/^0\.05 of any of /m)

  expect(await run('.venv/bin/python', ...UNITTEST, 'test_tables.py')).toMatch(/\nOK\n$/)
  await run('.venv/bin/pip', 'install', '--quiet', 'mypy==2.4.1')
  const strict = ['-m', 'mypy', '--config-file', 'clients/python/pyproject.toml']
  await run('.venv/bin/python', ...strict, 'clients/python/src', 'tests')
  await run('.venv/bin/python', ...strict, '-c', program.join('\n'))
})
