import { createClient } from '../../typescript/src/client.js'
import { commandOf } from './arguments.js'
import { breaks } from './breaks.js'
import { failureLine } from './failures.js'
import { HELP } from './help.js'
import { list } from './list.js'
import type { Output } from './output.js'
import { peg } from './peg.js'
import { nodeUrl, serviceKey, serviceUrl } from './settings.js'
import { nodeAt } from './verify/node.js'
import { verify } from './verify/verify.js'
import { watch } from './watch.js'

const VERSION = '0.1.0'
/** Of everything that did not work. 1 is the mismatch of `verify` alone. */
const FAILED = 2
/** What a shell reports of a program that Ctrl-C ended. `watch` has no other end: it exits with 0. */
const INTERRUPTED = 130

/** Its size as of now. Some terminals report none. */
const TERMINAL = {
  get columns() {
    return process.stdout.columns || 80
  },
  get rows() {
    return process.stdout.rows || 24
  },
}

const stop = new AbortController()
// Once: if the program does not end by the first Ctrl-C, it does by the second.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(new Error('interrupted')))
// A reader such as head has seen enough.
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? 0 : FAILED))

/** Does what the arguments ask for, and returns the exit code. */
async function run(signal: AbortSignal): Promise<number> {
  const command = commandOf(process.argv.slice(2), new Date())
  if (command.name === 'help' || command.name === 'version') {
    process.stdout.write(command.name === 'help' ? HELP : `${VERSION}\n`)
    return 0
  }
  const baseUrl = serviceUrl(command.url, process.env)
  const node = command.name === 'verify' ? nodeAt(nodeUrl(command.rpc, process.env)) : null
  const client = createClient({ baseUrl, key: await serviceKey(process.env) })
  const output: Output = {
    write: (text) => process.stdout.write(text),
    json: command.json,
    terminal: process.stdout.isTTY ? TERMINAL : null,
  }
  if (command.name === 'list') await list(client, command, output, signal)
  else if (command.name === 'peg') await peg(client, command, output, signal)
  else if (command.name === 'breaks') await breaks(client, command, output, signal)
  else if (command.name === 'watch') await watch(client, command, output, signal)
  else if (node) return verify(client, node, command, output, signal)
  return 0
}

try {
  process.exitCode = await run(stop.signal)
} catch (error) {
  if (!stop.signal.aborted) process.stderr.write(`${failureLine(error)}\n`)
  process.exitCode = stop.signal.aborted ? INTERRUPTED : FAILED
}
