import { createRequire } from 'node:module'

/** A native connection: it has its own session and runs one statement at a time. */
export type NativeConnection = { readonly __native: unique symbol }

export type NativeResult = {
  bytes: Buffer
  /** Rows and bytes of the result, not those read from storage. */
  rowsRead: number
  bytesRead: number
  /** Seconds. */
  elapsed: number
}

export type Classification = {
  statementCount: number
  /** 0 read only, 1 mutating, 2 mixed, 3 control (SET, SYSTEM, KILL, file clauses), 4 empty or not parsed. */
  queryClass: number
  hasSecrets: boolean
}

/** The used part of chDB's native addon. Its async calls run on libuv's thread pool. */
export type Addon = {
  CreateConnection(path: string, args: string[]): NativeConnection
  CloseConnection(connection: NativeConnection): void
  QueryWithConnection(connection: NativeConnection, sql: string, format: string): string
  QueryAsyncConnection(
    connection: NativeConnection,
    sql: string,
    format: string,
    params?: Record<string, string>,
  ): Promise<NativeResult>
  DurableClassifyAsync(connection: NativeConnection, sql: string, database: string): Promise<Classification>
}

/**
 * Loads the engine, which takes about 0.1 s and 190 MB. Does not use chDB's JavaScript wrapper: that pastes insert bodies
 * into the SQL, buffers whole results and runs all parameterised queries of the process one after the other.
 */
export function loadAddon(): Addon {
  const require = createRequire(import.meta.url)
  const loader = require.resolve('chdb/package.json').replace(/package\.json$/, 'dist/loader.js')
  return (require(loader) as { loadNative(): Addon }).loadNative()
}

const faults = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGABRT', 'SIGTRAP'] as const

/**
 * Makes a fault in native code end the process at once, by its signal. Call it when the engine is loaded: the engine's
 * handlers wait for a thread that writes crash reports, which this process does not have, so the faulting thread and its
 * query would hang forever.
 */
export function dieOnFaults(): void {
  // Adding and removing a listener restores the system's default handling.
  const listener = () => undefined
  for (const fault of faults) process.on(fault, listener).off(fault, listener)
}
