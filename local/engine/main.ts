#!/usr/bin/env node
import { readConfig } from './config.js'
import { hashFromInput } from './hash-password.js'
import { help } from './help.js'
import { Supervisor } from './supervisor.js'

// If the process that reads these streams is gone, this one must still shut down cleanly.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const log = (line: string) => process.stderr.write(`clickhouse: ${line}\n`)

async function run(args: string[]): Promise<void> {
  if (args.includes('--help')) {
    process.stdout.write(help)
    return
  }
  if (args[0] === 'hash-password') {
    process.stdout.write(`${await hashFromInput(process.stdin, (prompt) => process.stderr.write(prompt))}\n`)
    return
  }
  new Supervisor(readConfig(args, process.env), log).run()
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  log(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
