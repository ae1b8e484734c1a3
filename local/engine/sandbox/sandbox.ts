import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Rule } from './landlock.js'

/** `auto` uses what the system has, `required` refuses to start without it. */
export const SandboxMode = z.enum(['auto', 'required', 'off'], { error: 'must be auto, required or off' })
export type SandboxMode = z.infer<typeof SandboxMode>

/** For each part of the sandbox null if it is on, otherwise the reason why not. */
export const Protection = z.object({ files: z.string().nullable(), network: z.string().nullable() })
export type Protection = z.infer<typeof Protection>

/** What the sandbox allows besides the system's own files. */
export type SandboxRequest = { files: Rule[]; required: boolean }

/**
 * The arguments for Node that run a program with its arguments in the sandbox, with write access to `directories` only. The
 * program gets the state of the sandbox (a Protection as JSON) as its last argument.
 */
export function confined(
  [program, ...args]: readonly [program: string, ...args: string[]],
  directories: readonly string[],
  mode: SandboxMode,
): string[] {
  const off = mode === 'off' ? 'CLICKHOUSE_SANDBOX is "off"' : process.platform === 'linux' ? null : 'only Linux has it'
  if (off !== null) {
    if (mode === 'required') throw new Error(`CLICKHOUSE_SANDBOX is "required": ${off}`)
    return [program, ...args, JSON.stringify({ files: off, network: off } satisfies Protection)]
  }
  const code = [dirname(program), packagesDirectory(), packageFile(program)]
  const request: SandboxRequest = {
    files: [...code.map((path): Rule => [path, 'read']), ...directories.map((path): Rule => [path, 'write'])],
    required: mode === 'required',
  }
  return [join(dirname(program), 'sandbox', 'confine-main.js'), JSON.stringify(request), program, ...args]
}

/** The sandbox's state in words. */
export function describe({ files, network }: Protection): string {
  if (files === null && network === null) return 'on: the engine reaches no other files, processes or addresses'
  if (files !== null && network !== null) return `OFF: ${files}`
  return files === null ? `files only; NOT the network: ${network}` : `the network only; NOT files: ${files}`
}

/** The folder of the installed packages, the engine's among them. */
function packagesDirectory(): string {
  const file = realpathSync(createRequire(import.meta.url).resolve('chdb/package.json'))
  return dirname(dirname(file))
}

/** The nearest package.json above the program, which Node reads to know the kind of its modules. */
function packageFile(program: string): string {
  for (let directory = dirname(program); ; directory = dirname(directory)) {
    const file = join(directory, 'package.json')
    if (existsSync(file) || directory === dirname(directory)) return file
  }
}
