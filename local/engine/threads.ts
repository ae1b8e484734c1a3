import { availableParallelism } from 'node:os'

/** More statements at once than this only wait for each other. */
export const defaultMaxConcurrentQueries = Math.max(64, 8 * availableParallelism())

/** One thread a statement, and some for files, compression and KILL, which must not wait for them. */
export const threadsFor = (maxConcurrentQueries: number) => maxConcurrentQueries + 24
