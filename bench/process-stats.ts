import { readFileSync } from 'node:fs'

/** Clock ticks of /proc in a second: the same on every Linux that Node runs on. */
const TICKS = 100

/** What the kernel says of a running process: the CPU seconds it has used, and the most it was resident, in MB. */
export function statsOf(pid: number): { cpuSeconds: number; peakMb: number } {
  // The name in parentheses may hold spaces; user and system time are the 12th and 13th field behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const peakKb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS, peakMb: peakKb / 1024 }
}
