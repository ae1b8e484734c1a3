import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from './config.js'
import { ownDirectory } from './directories.js'
import { confined } from './sandbox/sandbox.js'
import { threadsFor } from './threads.js'

/** All that the server gets of this process's environment, which may contain secrets. */
const INHERITED = ['LANG', 'LC_ALL', 'LD_LIBRARY_PATH']

/**
 * Starts the server in a process of its own, in a sandbox if the system has one. Its configuration, which has hashes
 * instead of passwords, is written to its standard input, whose end tells the server that this process has ended. Its
 * standard output is piped, and its standard error too with `stderr: 'pipe'`. Throws if a directory cannot be used.
 */
export function launchServer(config: Config, { stderr }: { stderr: 'pipe' | 'inherit' }): ChildProcess {
  const dataDirectory = ownDirectory(config.dataDirectory, 'data directory')
  const backupDirectory = ownDirectory(config.backupDirectory, 'backup directory')
  const inherited = INHERITED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))
  // The server reads its directory from the configuration; here it is for people who list processes.
  const program = [serverEntry(), dataDirectory] as const
  const child = spawn(process.execPath, confined(program, [dataDirectory, backupDirectory], config.sandbox), {
    env: {
      ...Object.fromEntries(inherited),
      // libuv reads the number of threads when a process starts.
      UV_THREADPOOL_SIZE: String(threadsFor(config.maxConcurrentQueries)),
      // Node does not start if it cannot read OpenSSL's configuration, whose place differs between systems.
      OPENSSL_CONF: '/dev/null',
      // Where the engine writes a schema that it generates for Protobuf. The server empties this folder when it starts.
      TMPDIR: join(dataDirectory, 'pipes'),
    },
    cwd: dataDirectory,
    stdio: ['pipe', 'pipe', stderr],
    // Ctrl-C signals a whole process group; the server gets its signal from this process instead.
    detached: true,
  })
  // A server that has ended no longer reads.
  child.stdin?.on('error', () => undefined)
  child.stdin?.write(`${JSON.stringify({ ...config, dataDirectory, backupDirectory } satisfies Config)}\n`)
  return child
}

/** The compiled server, found from the compiled folder and from the sources. */
function serverEntry(): string {
  const beside = fileURLToPath(new URL('./server-main.js', import.meta.url))
  const built = fileURLToPath(new URL('./dist/server-main.js', import.meta.url))
  const entry = [beside, built].find((path) => existsSync(path))
  if (!entry) throw new Error(`${built} is missing: run npm run build`)
  return entry
}
