import { createRequire } from 'node:module'

/** A native connection: its own session context, one statement at a time. */
export type NativeConnection = { readonly __native: unique symbol }

export type NativeResult = {
  bytes: Buffer
  /** Rows and bytes of the result, not of what was read from storage. */
  rowsRead: number
  bytesRead: number
  /** Seconds. */
  elapsed: number
}

export type Classification = {
  statementCount: number
  /** 0 read only, 1 mutating, 2 mixed, 3 control (SET, SYSTEM, KILL, file clauses), 4 empty. */
  queryClass: number
  hasSecrets: boolean
}

/** The part of chDB's native addon that is used here. The async calls run on libuv's thread pool. */
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
 * Loads the engine: about 0.1 s and 190 MB. chDB's JavaScript wrapper is left out on purpose: it pastes insert bodies into
 * the SQL, buffers whole results and runs all parameterised queries of the process one after the other.
 */
export function loadAddon(): Addon {
  const require = createRequire(import.meta.url)
  const loader = require.resolve('chdb/package.json').replace(/package\.json$/, 'dist/loader.js')
  return (require(loader) as { loadNative(): Addon }).loadNative()
}
