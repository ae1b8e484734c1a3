import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Most that the node's states of older blocks may take on the disk. */
export const STATES_BUDGET_BYTES = 3 * 2 ** 30

/**
 * Removes the oldest files below `dir` until the rest is within `budgetBytes`; returns how many it removed. The node
 * bounds the number of states it keeps but not their size, which grows with every order ever placed. A state that is
 * gone is one that can no longer be called; the node answers that it is out of range.
 */
export async function boundStates(dir: string, budgetBytes: number): Promise<number> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => [])
  const files: { path: string; size: number; at: number }[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const found = await stat(path).catch(() => null)
    if (found) files.push({ path, size: found.size, at: found.mtimeMs })
  }
  files.sort((a, b) => a.at - b.at)
  let excess = files.reduce((sum, f) => sum + f.size, -budgetBytes)
  let removed = 0
  for (const { path, size } of files) {
    if (excess <= 0) break
    await unlink(path).catch(() => undefined)
    excess -= size
    removed++
  }
  return removed
}
