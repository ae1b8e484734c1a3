import { spawnSync } from 'node:child_process'
import { TestRunner } from 'vitest'

/** Programs that some tests need besides Node, and a call that succeeds if the program works. */
const TOOLS = {
  'redis-server': ['redis-server', '--version'],
  chromium: ['chromium', '--version'],
  go: ['go', 'version'],
  python3: ['python3', '--version'],
  'venv of python3': ['python3', '-c', 'import ensurepip, venv'],
  PyPI: ['python3', '-c', "import urllib.request as r; r.urlopen('https://pypi.org/simple/urllib3/', timeout=30)"],
  npm: ['npm', 'view', 'openapi-typescript', 'name', '--fetch-retries=0'],
  curl: ['curl', '--version'],
  'mounts of its own': ['unshare', '-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
} as const

export type Tool = keyof typeof TOOLS

const known = new Map<Tool, boolean>()

function isThere(tool: Tool): boolean {
  const [command, ...args] = TOOLS[tool]
  const found = known.get(tool) ?? spawnSync(command, args, { stdio: 'ignore' }).status === 0
  known.set(tool, found)
  return found
}

/** What lies outside the machine: an outage of others must not keep a change of the service from landing. */
const REMOTE: readonly Tool[] = ['PyPI', 'npm']

/** Skips the running test if the machine lacks the program; with CI=true the test fails instead, unless the tool is remote. */
export function requireTool(tool: Tool): void {
  if (isThere(tool)) return
  const reason = `no ${tool}`
  if (process.env.CI === 'true' && !REMOTE.includes(tool))
    throw new Error(`${reason} on this machine: with CI=true nothing may be left out`)
  TestRunner.getCurrentTest()?.context.skip(reason)
  throw new Error(reason)
}
