import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/** What a memory is, in the words of the documents. */
type Description = {
  /** Its label in the metrics; memories of one kind share it. */
  name: string
  /** What it holds. */
  holds: string
  /** Until when that is valid. */
  until: string
}

/**
 * What a process keeps because reading or computing it again would take longer. Whatever a memory forgets, at any time,
 * answers stay the same.
 */
export interface Memory {
  readonly description: Description
  readonly unit: 'entries' | 'bytes'
  readonly size: number
  /** Infinity if it holds all that is stored of its kind. */
  readonly limit: number
  /** How often it was asked, since the start. */
  readonly lookups: Readonly<{ hit: number; miss: number }>
  /** Empties it. What is being read meanwhile is not kept. */
  forget: () => void
}

type Bound<Key, Value> =
  | { max: number }
  | {
      maxBytes: number
      /** What an entry takes, with what the engine and the cache add. */
      bytesOf: (value: Value, key: Key) => number
    }

type EntriesOptions<Key, Value> = Description &
  Bound<Key, Value> & {
    /** The lifetime of an entry, in milliseconds; if omitted, or 0, it is forgotten only when others need its place. */
    ttlMs?: number | ((value: Value) => number)
  }

/** Values by their keys; those that were used longest ago are forgotten first. */
class Entries<Key extends object | string, Value extends object | string> implements Memory {
  readonly description: Description
  readonly unit: 'entries' | 'bytes'
  readonly limit: number
  readonly lookups = { hit: 0, miss: 0 }
  readonly #lru: LRUCache<Key, Value, () => Promise<Value>>
  readonly #ttlMs: (value: Value) => number

  constructor({ ttlMs = 0, ...options }: EntriesOptions<Key, Value>) {
    this.description = options
    const isByBytes = 'maxBytes' in options
    this.unit = isByBytes ? 'bytes' : 'entries'
    this.limit = isByBytes ? options.maxBytes : options.max
    this.#lru = new LRUCache<Key, Value, () => Promise<Value>>({
      ...(isByBytes ? { maxSize: options.maxBytes, sizeCalculation: options.bytesOf } : { max: options.max }),
      fetchMethod: async (_key, _stale, { context, options }) => {
        const value = await context()
        options.ttl = this.#ttlMs(value)
        return value
      },
      ignoreFetchAbort: true,
    })
    this.#ttlMs = typeof ttlMs === 'function' ? ttlMs : () => ttlMs
  }

  get size(): number {
    return this.unit === 'bytes' ? this.#lru.calculatedSize : this.#lru.size
  }

  /** The value of a key, if there is one that `isValid`. */
  get(key: Key, isValid?: (value: Value) => boolean): Value | undefined {
    const value = this.#lru.get(key)
    const isHit = value !== undefined && (isValid?.(value) ?? true)
    this.lookups[isHit ? 'hit' : 'miss'] += 1
    return isHit ? value : undefined
  }

  /** The value of a key, for a second look: it is not counted, nor is the key used. */
  peek(key: Key): Value | undefined {
    return this.#lru.peek(key)
  }

  set(key: Key, value: Value): void {
    this.#lru.set(key, value, { ttl: this.#ttlMs(value) })
  }

  /** The value of a key, read once for all concurrent callers if there is none. A failed read is not kept. */
  async read(key: Key, read: () => Promise<Value>): Promise<Value> {
    this.lookups[this.#lru.peek(key) === undefined ? 'miss' : 'hit'] += 1
    return this.#lru.forceFetch(key, { context: read })
  }

  forget(): void {
    this.#lru.clear()
  }
}

type LatestOptions<Value> = Description & {
  /**
   * Reads the value, from what is kept on if there is something. Resolves to null if that is no longer right: then it is
   * forgotten, and all is read again.
   */
  read: (before: Value | null) => Promise<Value | null>
  /**
   * Whether everything that a value just read speaks of can be read too; if not, or not soon, callers get what was kept
   * before. Rejects only if nothing was.
   */
  isSettled?: (hasBefore: boolean) => Promise<boolean>
  /** How many things a value holds; one if omitted. */
  count?: (value: Value) => number
  /** A monotonic clock; the process's own if omitted. */
  nowMs?: () => number
}

/** How long a caller waits until a new value is settled if there is an old one, in milliseconds. */
const PATIENCE_MS = 2000

/** What `newer` resolves to, or `before` if that takes too long. */
async function orBefore<Value>(newer: Promise<Value>, before: Value): Promise<Value> {
  const done = new AbortController()
  const late = sleep(PATIENCE_MS, before, { signal: done.signal }).catch(() => before)
  // It may still fail, when nobody waits any more.
  newer.catch(() => undefined)
  return Promise.race([newer, late]).finally(() => done.abort())
}

/** One value, as it was last read; read once for all concurrent callers. */
class Latest<Value extends object> implements Memory {
  readonly description: Description
  readonly unit = 'entries'
  readonly limit: number
  readonly lookups = { hit: 0, miss: 0 }
  readonly #options: LatestOptions<Value>
  readonly #nowMs: () => number
  #kept: { value: Value; readAt: number } | null = null
  #reading: Promise<Value> | null = null
  #settling: Promise<Value> | null = null
  /** Changes when what was read before must not be kept. */
  #version = 0

  constructor(options: LatestOptions<Value>) {
    this.description = options
    this.limit = options.count ? Number.POSITIVE_INFINITY : 1
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
  }

  get size(): number {
    return this.#kept === null ? 0 : (this.#options.count?.(this.#kept.value) ?? 1)
  }

  /** The value, however old, for a second look: it is not counted. Null if there is none. */
  get value(): Value | null {
    return this.#kept?.value ?? null
  }

  /** How long ago the read of the value began, in milliseconds; Infinity without one. */
  get ageMs(): number {
    return this.#kept === null ? Number.POSITIVE_INFINITY : Math.abs(this.#nowMs() - this.#kept.readAt)
  }

  /** The value if there is one that `isValid`; null otherwise. */
  getNow(isValid: (value: Value, ageMs: number) => boolean): Value | null {
    const { value } = this
    const isHit = value !== null && isValid(value, this.ageMs)
    this.lookups[isHit ? 'hit' : 'miss'] += 1
    return isHit ? value : null
  }

  /** The value if it `isValid`; otherwise it is read again. Rejects like `read`. */
  async get(isValid: (value: Value, ageMs: number) => boolean): Promise<Value> {
    return this.getNow(isValid) ?? this.read()
  }

  /** Reads the value again, or joins a read that is under way. */
  read(): Promise<Value> {
    if (this.#reading === null) {
      const reading = this.#readAgain().finally(() => {
        if (this.#reading === reading) this.#reading = null
      })
      this.#reading = reading
    }
    return this.#reading
  }

  /** Makes the value too old, and reads again what is being read: it has changed. The old value can still be seen. */
  expire(): void {
    this.#version += 1
    this.#reading = null
    this.#settling = null
    if (this.#kept) this.#kept = { ...this.#kept, readAt: Number.NEGATIVE_INFINITY }
  }

  forget(): void {
    this.expire()
    this.#kept = null
  }

  async #readAgain(): Promise<Value> {
    const [readAt, version] = [this.#nowMs(), this.#version]
    const value = await this.#options.read(this.value)
    // Not `read`: a value that its own read makes too old would wait for itself.
    if (version !== this.#version) return this.#readAgain()
    if (value === null) {
      this.#kept = null
      return this.#readAgain()
    }
    if (this.#options.isSettled) return this.#settled({ value, readAt }, this.#options.isSettled)
    this.#kept = { value, readAt }
    return value
  }

  async #settled(
    next: { value: Value; readAt: number },
    isSettled: (hasBefore: boolean) => Promise<boolean>,
  ): Promise<Value> {
    const [before, version] = [this.#kept, this.#version]
    if (before && this.#settling) return before.value
    const settling = isSettled(before !== null)
      .then((hasSettled) => {
        if (hasSettled && this.#kept === before && version === this.#version) this.#kept = next
        return hasSettled || !before ? next.value : before.value
      })
      .finally(() => {
        if (this.#settling === settling) this.#settling = null
      })
    this.#settling = settling
    return before ? orBefore(settling, before.value) : settling
  }
}

export type { Entries, Latest }

/** The memories of an application, or of another part of a process. Nothing else can make one, so all are in it. */
export class Memories {
  readonly #own: Memory[] = []
  readonly #parts: readonly Memories[]

  /** With those of its `parts`. */
  constructor(parts: readonly Memories[] = []) {
    this.#parts = parts
  }

  /** A memory of values by their keys. */
  entries<Key extends object | string, Value extends object | string>(
    options: EntriesOptions<Key, Value>,
  ): Entries<Key, Value> {
    const memory = new Entries(options)
    this.#own.push(memory)
    return memory
  }

  /** A memory of one value, such as a list of everything. */
  latest<Value extends object>(options: LatestOptions<Value>): Latest<Value> {
    const memory = new Latest(options)
    this.#own.push(memory)
    return memory
  }

  all(): readonly Memory[] {
    return [...this.#own, ...this.#parts.flatMap((part) => part.all())]
  }
}

/** The memories of functions whose result depends on nothing but their parameter. */
export const memoriesOfProcess = new Memories()

/** `compute`, which must depend on nothing but its parameter, with a memory of the process. */
export function memoized<Value extends object | string>(
  options: Omit<Description, 'until'> & Bound<string, Value>,
  compute: (key: string) => Value,
): (key: string) => Value {
  const memory = memoriesOfProcess.entries<string, Value>({ ...options, until: 'always' })
  return (key) => {
    const kept = memory.get(key)
    if (kept !== undefined) return kept
    const value = compute(key)
    memory.set(key, value)
    return value
  }
}
