import { fstatSync } from 'node:fs'

/**
 * Calls back once when the parent process is gone, which it shows by a closed IPC channel or a closed pipe on stdin.
 * A stdin that is a terminal, a file or /dev/null says nothing about the parent and is left alone.
 */
export function watchParent(onGone: () => void): void {
  if (process.channel) {
    process.once('disconnect', onGone)
    return
  }
  const stdin = fstatSync(0)
  if (!stdin.isFIFO() && !stdin.isSocket()) return
  process.stdin.once('end', onGone).once('error', onGone).resume()
}
