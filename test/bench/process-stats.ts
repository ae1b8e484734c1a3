import { readFileSync } from 'node:fs'

/** Clock ticks of /proc in a second: the same on every Linux that Node runs on. */
const TICKS = 100

/** What the kernel says of a running process: the CPU seconds it has used, and what it is and was at most resident, in MB. */
export function statsOf(pid: number): { cpuSeconds: number; peakMb: number; residentMb: number } {
  // The name in parentheses may hold spaces; user and system time are the 12th and 13th field behind it.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS,
    peakMb: megabytes('VmHWM'),
    residentMb: megabytes('VmRSS'),
  }
}
