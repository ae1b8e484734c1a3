import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { statsOf } from './process-stats.js'

const CONNECTIONS = 64
const run = promisify(execFile)

const found = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)

/**
 * Asks for one URL as fast as 64 connections can, with wrk. What is measured has to be the server: a client in JavaScript
 * takes as long for an answer as the server does, and longer for each of its header fields. Throws where anything fails.
 */
export async function wrk(
  { url, pid }: { url: string; pid: number },
  path: string,
  { seconds, headers = {} }: { seconds: number; headers?: Record<string, string> },
): Promise<{ perSecond: number; cpuSeconds: number }> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const before = statsOf(pid).cpuSeconds
  const { stdout } = await run('wrk', ['-t1', `-c${CONNECTIONS}`, `-d${seconds}`, ...fields, url + path]).catch(
    (error) => {
      if (error.code === 'ENOENT') throw new Error('wrk is missing: apt-get install wrk')
      throw error
    },
  )
  if (/Socket errors|Non-2xx/.test(stdout)) throw new Error(stdout)
  const requests = found(stdout, /(\d+) requests in/)
  return {
    perSecond: found(stdout, /Requests\/sec:\s+([\d.]+)/),
    // CPU time of the server's process for one request: the same on a busy machine.
    cpuSeconds: (statsOf(pid).cpuSeconds - before) / requests,
  }
}
