import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SUBSCRIPTION_KEY } from './app.js'
import { test as base } from './served-market.js'
import { requireTool } from './tools.js'

/** The folder of the client's package. */
export const PYTHON_CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url))

/** On disk: pandas and pyarrow take 360 MB, too much for a directory in memory. */
const TEMPORARY = '/var/tmp'

/** Runs a program in the clean folder, and returns what it wrote. */
type Run = (command: string, ...args: string[]) => Promise<string>

/** Lets `use` have a new folder for packages of Python. The test is skipped where Python, its venv or PyPI is missing. */
export async function withPythonFolder(use: (folder: string) => Promise<void>): Promise<void> {
  for (const tool of ['python3', 'venv of python3', 'PyPI'] as const) requireTool(tool)
  const folder = await mkdtemp(join(TEMPORARY, 'plumbline-python-'))
  try {
    await use(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Runs programs in that folder. */
export function runIn(folder: string, env: Record<string, string> = {}): Run {
  return async (command, ...args) => {
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder, PYTHONDONTWRITEBYTECODE: '1', ...env },
    }).catch((error) => {
      throw new Error(`${command} ${args}: ${error.stdout}${error.stderr}`)
    })
    return `${stdout}${stderr}`
  }
}

type Python = {
  folder: string
  run: Run
}

/** A test of Python programs against a running service. */
export const test = base.extend<Python>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of a fixture's dependencies off the pattern
  folder: ({}, use) => withPythonFolder(use),
  run: async ({ folder, origin }, use) =>
    use(runIn(folder, { PLUMBLINE_URL: origin, PLUMBLINE_KEY: SUBSCRIPTION_KEY })),
})
