import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * The command line of a running process, its arguments joined by spaces. Null if there is no such process, or if the
 * system has neither /proc nor ps.
 */
export async function commandLine(pid: number): Promise<string | null> {
  if (!isAlive(pid)) return null
  if (process.platform === 'linux') {
    const raw = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    // A zombie has an empty command line.
    return raw.replaceAll('\0', ' ').trim() || null
  }
  const answer = await promisify(execFile)('ps', ['-o', 'command=', '-p', `${pid}`]).catch(() => null)
  return answer?.stdout.trim() || null
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
