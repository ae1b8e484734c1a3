import { closeSync, openSync, statSync } from 'node:fs'
import { declare } from './libc.js'

// The kernel's calls have these numbers on every architecture. What follows is from linux/landlock.h.
const CREATE_RULESET = 444
const ADD_RULE = 445
const RESTRICT_SELF = 446
const createRuleset = declare<[number, Buffer | null, number, number]>(
  'long syscall(long n, void *a, size_t s, uint f)',
)
const addRule = declare<[number, number, number, Buffer, number]>('long syscall(long n, int s, int t, void *r, uint f)')
const restrictSelf = declare<[number, number, number]>('long syscall(long n, int ruleset, uint flags)')

const ONLY_VERSION = 1
const PATH_BENEATH = 1
const O_PATH = 0x20_0000

const EXECUTE = 1 << 0
const WRITE_FILE = 1 << 1
const READ_FILE = 1 << 2
const READ_DIRECTORY = 1 << 3
const TRUNCATE = 1 << 14
const IOCTL = 1 << 15
/** The rights that a rule for a single file may have. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL

/** From version 2 on, files can be moved and linked between directories, which the engine does. */
const FIRST_VERSION = 2
/** Every right that a version knows. */
const rightsOf = (version: number) => (1 << (version < 3 ? 14 : version < 5 ? 15 : 16)) - 1
/** From this version on, a process can be kept from signalling others and from connecting to abstract sockets. */
const SCOPES_VERSION = 6
const ALL_SCOPES = 0b11n

/** `read` and `write` include everything below a directory; `run` reads and executes. */
type Access = 'read' | 'run' | 'write'
export type Rule = readonly [path: string, access: Access]

/**
 * Restricts this thread, and every program that it runs from now on, to the files of `rules`; a path that does not exist
 * is skipped. Such a program also cannot signal or trace other processes, or read their memory and environment. The
 * thread must have given up new privileges. Throws if the kernel has no Landlock: Linux 5.19 and later have it unless it
 * was disabled.
 */
export function restrictFiles(rules: readonly Rule[]): void {
  const version = createRuleset(CREATE_RULESET, null, 0, ONLY_VERSION)
  if (version < FIRST_VERSION) throw new Error(`version ${version} of Landlock is too old`)
  const all = rightsOf(version)
  const rights = { read: READ_FILE | READ_DIRECTORY, run: READ_FILE | EXECUTE, write: all & ~EXECUTE }
  const attributes = Buffer.alloc(24)
  attributes.writeBigUInt64LE(BigInt(all), 0)
  attributes.writeBigUInt64LE(ALL_SCOPES, 16)
  // A kernel refuses fields that it does not know, so older ones get the first alone.
  const ruleset = createRuleset(CREATE_RULESET, attributes, version < SCOPES_VERSION ? 8 : attributes.length, 0)
  for (const [path, access] of rules) allow(ruleset, path, rights[access])
  restrictSelf(RESTRICT_SELF, ruleset, 0)
  closeSync(ruleset)
}

function allow(ruleset: number, path: string, rights: number): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return
  const fd = openSync(path, O_PATH)
  const rule = Buffer.alloc(12)
  rule.writeBigUInt64LE(BigInt(stat.isDirectory() ? rights : rights & OF_FILES), 0)
  rule.writeInt32LE(fd, 8)
  addRule(ADD_RULE, ruleset, PATH_BENEATH, rule, 0)
  closeSync(fd)
}
