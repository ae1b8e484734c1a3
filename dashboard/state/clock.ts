import { signal } from '@preact/signals'

let offsetMs = 0

/** Sets how far the clock of this machine is behind that of the service, in milliseconds. */
export function setClockOffset(ms: number): void {
  offsetMs = ms
}

/** Now by the clock of the service, in unix seconds. */
export const now = (): number => (Date.now() + offsetMs) / 1000

/** The same, renewed every second while the page is visible: what reads it is drawn again. */
export const ticking = signal(now())

setInterval(() => {
  if (!document.hidden) ticking.value = now()
}, 1000)
