/** Numbers that differ by less than this share are the same: the engine adds floats in another order. */
const TOLERANCE = 1e-9

const isSame = (a: number, b: number): boolean => Math.abs(a - b) <= TOLERANCE * Math.max(Math.abs(a), Math.abs(b))

/**
 * Where an answer differs from what is expected, as "path: expected x, published y". Fields that are not expected are
 * not compared. Of a list of another length, only the length is named.
 */
export function differences(published: unknown, expected: unknown, path = ''): string[] {
  const found = (): string[] => [
    `${path || 'answer'}: expected ${JSON.stringify(expected)}, published ${JSON.stringify(published) ?? 'nothing'}`,
  ]
  if (typeof expected === 'number') return typeof published === 'number' && isSame(published, expected) ? [] : found()
  if (Array.isArray(expected)) {
    if (!Array.isArray(published)) return found()
    if (published.length !== expected.length)
      return [`${path}: expected ${expected.length} items, published ${published.length}`]
    return expected.flatMap((item, i) => differences(published[i], item, `${path}[${i}]`))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof published !== 'object' || published === null) return found()
    return Object.entries(expected).flatMap(([key, value]) =>
      differences((published as Record<string, unknown>)[key], value, path ? `${path}.${key}` : key),
    )
  }
  return published === expected ? [] : found()
}
