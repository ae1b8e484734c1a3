import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** Most disk space for the node's states of older blocks. */
export const STATES_BUDGET_BYTES = 3 * 2 ** 30

/**
 * Removes the oldest files below `dir` until the rest fits into `budgetBytes`; returns how many it removed. The node
 * limits the number of states but not their size, which grows with every order ever placed. After that, the node
 * answers calls at the removed blocks with an out-of-range error.
 */
export async function limitStates(dir: string, budgetBytes: number): Promise<number> {
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
