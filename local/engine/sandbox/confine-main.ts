/**
 * `node confine-main.js REQUEST PROGRAM ARGUMENTS…` restricts this process as the request (a SandboxRequest as JSON) says,
 * and then becomes `node PROGRAM ARGUMENTS… PROTECTION`. It has to be a program of its own: a restriction holds for one
 * thread and what it starts, and Node has several threads before its first line runs.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Rule, restrictFiles } from './landlock.js'
import { declare } from './libc.js'
import type { Protection, SandboxRequest } from './sandbox.js'
import { restrictNetwork } from './seccomp.js'

const execv = declare<[path: string, args: (string | null)[]]>('int execv(const char *path, const char **args)')
const fcntl = declare<[fd: number, command: number, flags: number]>('int fcntl(int fd, int command, int flags)')
const prctl = declare<[option: number, value: number, a: number, b: number, c: number]>(
  'int prctl(int option, ulong value, ulong a, ulong b, ulong c)',
)
const PR_CAPBSET_READ = 23
const PR_CAPBSET_DROP = 24
const PR_SET_NO_NEW_PRIVS = 38
const F_SETFD = 2

/** By these the engine resolves "localhost", the host of dictionaries that read its own tables. */
const NAMES = ['/etc/hosts', '/etc/host.conf', '/etc/nsswitch.conf', '/etc/resolv.conf']

/** What Node and the engine read of the system: libraries, the time zone, local names, and the state of the machine. */
function systemFiles(): Rule[] {
  const mapped = readFileSync('/proc/self/maps', 'utf8').match(/\/.*\.so[.\d]*$/gm) ?? []
  const libraries = new Set(mapped.map((file) => dirname(file)))
  const loader = mapped.filter((file) => /\/ld-[^/]*$/.test(file))
  return [
    ...[...libraries, ...NAMES, '/etc/ld.so.cache', '/etc/localtime', '/usr/share/zoneinfo'].map(
      (path) => [path, 'read'] as const,
    ),
    ...['/proc', '/sys/devices/system', '/sys/fs/cgroup', '/sys/kernel/mm', '/sys/block', '/dev/urandom'].map(
      (path) => [path, 'read'] as const,
    ),
    ['/dev/null', 'write'],
    ...[process.execPath, ...new Set(loader)].map((path) => [path, 'run'] as const),
  ]
}

/** CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER: root's rights to files, of which Landlock leaves the allowed ones. */
const KEPT_CAPABILITIES = [1, 2, 3]

/** Gives up root's other rights, with which it could still read the memory and environment of other processes. */
function dropCapabilities(): void {
  if (process.geteuid?.() !== 0) return
  for (let capability = 0; capability < 64; capability++) {
    if (KEPT_CAPABILITIES.includes(capability)) continue
    try {
      if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) === 0) continue
    } catch {
      return // The kernel knows no more of them.
    }
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
  }
}

/** Null if it worked, otherwise why not. */
function attempt(restrict: () => void): string | null {
  try {
    restrict()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const [request = '', ...program] = process.argv.slice(2)
const { files, required } = JSON.parse(request) as SandboxRequest
prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
const protection: Protection = {
  files: attempt(() => {
    restrictFiles([...files, ...systemFiles()])
    dropCapabilities()
  }),
  network: attempt(restrictNetwork),
}
const missing = Object.entries(protection).filter(([, why]) => why !== null)
if (required && missing.length > 0) {
  const reasons = missing.map(([what, why]) => `${what}: ${why}`).join('; ')
  process.stderr.write(`clickhouse: CLICKHOUSE_SANDBOX is "required", but the system lacks a part of it (${reasons})\n`)
  process.exit(1)
}
// Node marks its standard streams to be closed when another program starts.
for (const fd of [0, 1, 2]) fcntl(fd, F_SETFD, 0)
execv(process.execPath, [process.execPath, ...program, JSON.stringify(protection), null])
