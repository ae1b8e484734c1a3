import { availableParallelism } from 'node:os'

/** Running more statements at once does not make them faster. */
export const defaultMaxConcurrentQueries = Math.max(64, 8 * availableParallelism())

/** One thread per statement, and some for files, compression and KILL, which must not wait for statements. */
export const threadsFor = (maxConcurrentQueries: number) => maxConcurrentQueries + 24
