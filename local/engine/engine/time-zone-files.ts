import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import koffi from 'koffi'

const PT_LOAD = 1
const PT_DYNAMIC = 2
const PF_X = 1
const DT_STRTAB = 5n
const DT_SYMTAB = 6n
const DT_PLTRELSZ = 2n
const DT_JMPREL = 23n
const OPENERS = ['fopen', 'fopen64']

/**
 * Keeps the engine from files of time zones. It has its own list of zones, but takes any other name for the name of a
 * file: `toTimeZone(now(), 'file:/path')` opens it, and waits for ever if it is a pipe, and every statement with a time
 * waits with it. Such a name can be computed, or come with rows, so it cannot be refused by looking at a statement. The
 * engine opens these files with fopen, which it uses for nothing else after its start. This makes its calls of fopen calls
 * of getenv: that takes a text as well and returns nothing for a path.
 *
 * Call it when the engine is open. It does nothing on systems other than Linux. Throws if the engine's library is not as
 * expected.
 */
export function closeTimeZoneFiles(): void {
  if (process.platform !== 'linux') return
  const mapped = readFileSync('/proc/self/maps', 'utf8').split('\n')
  const path = mapped.map((line) => /\/\S*libchdb\.so$/.exec(line)?.[0]).find((file) => file !== undefined)
  if (path === undefined) throw new Error('the library of the engine is not loaded')
  const { slots, code } = importsOf(path)
  const base = baseOf(mapped, path, code)
  for (const name of OPENERS) {
    const slot = slots.get(name)
    if (slot === undefined) throw new Error(`${path} does not import ${name}`)
    const address = base + slot
    assertWritable(mapped, address)
    koffi.encode(address, 'uint64_t', symbol('getenv'))
  }
}

const dlsym = koffi.load(null).func('void *dlsym(void *handle, const char *name)')
const symbol = (name: string): bigint => BigInt(dlsym(null, name))

/** A part of a library: where it begins in the file, and where in memory, relative to the library's start. */
type Part = { offset: bigint; address: bigint }

/**
 * Where a library starts in memory, by where its code is. The engine may have mapped the file a second time, to read the names of
 * functions for the stack of an error: that mapping holds no code that can run.
 */
function baseOf(mapped: readonly string[], path: string, { offset, address }: Part): bigint {
  for (const line of mapped) {
    const [, start, from] = /^([0-9a-f]+)-[0-9a-f]+ r-xp ([0-9a-f]+) /.exec(line) ?? []
    if (start === undefined || from === undefined || !line.endsWith(path)) continue
    const before = offset - BigInt(`0x${from}`)
    // Mappings begin at pages, which have at most 64 KiB.
    if (before >= 0n && before < 65_536n) return BigInt(`0x${start}`) - (address - before)
  }
  throw new Error('the code of the library of the engine is not loaded')
}

function assertWritable(mapped: readonly string[], address: bigint): void {
  const isWritable = mapped.some((line) => {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? []
    return from !== undefined && BigInt(`0x${from}`) <= address && address < BigInt(`0x${to}`)
  })
  if (!isWritable) throw new Error('the imports of the library of the engine are not writable')
}

/**
 * Where a 64-bit ELF library keeps the addresses of the functions that it imports, relative to its start, and where its code
 * is.
 */
function importsOf(path: string): { slots: Map<string, bigint>; code: Part } {
  const file = openSync(path, 'r')
  try {
    const read = (at: bigint, length: bigint) => {
      const bytes = Buffer.alloc(Number(length))
      readSync(file, bytes, 0, bytes.length, Number(at))
      return bytes
    }
    const head = read(0n, 64n)
    const [table, size, count] = [head.readBigUInt64LE(32), head.readUInt16LE(54), head.readUInt16LE(56)]
    const segments = Array.from({ length: count }, (_, i) => read(table + BigInt(i * size), 56n))
    const dynamic = segments.find((segment) => segment.readUInt32LE(0) === PT_DYNAMIC)
    const code = segments.find(
      (segment) => segment.readUInt32LE(0) === PT_LOAD && (segment.readUInt32LE(4) & PF_X) !== 0,
    )
    if (!dynamic || !code) throw new Error(`${path} is not a library`)
    const entries = pairs(read(dynamic.readBigUInt64LE(8), dynamic.readBigUInt64LE(32)), 16)
    const entry = (tag: bigint) => entries.find(([key]) => key === tag)?.[1] ?? 0n
    // These tables are in the first segment, where addresses are positions in the file.
    const slots = new Map(
      pairs(read(entry(DT_JMPREL), entry(DT_PLTRELSZ)), 24).map(([slot, info]) => {
        const name = read(entry(DT_SYMTAB) + (info >> 32n) * 24n, 4n).readUInt32LE(0)
        return [
          read(entry(DT_STRTAB) + BigInt(name), 64n)
            .toString('latin1')
            .split('\0', 1)[0] ?? '',
          slot,
        ]
      }),
    )
    return { slots, code: { offset: code.readBigUInt64LE(8), address: code.readBigUInt64LE(16) } }
  } finally {
    closeSync(file)
  }
}

/** The first two numbers of each entry of a table. */
const pairs = (bytes: Buffer, size: number): [bigint, bigint][] =>
  Array.from({ length: bytes.length / size }, (_, i) => [
    bytes.readBigUInt64LE(i * size),
    bytes.readBigUInt64LE(i * size + 8),
  ])
