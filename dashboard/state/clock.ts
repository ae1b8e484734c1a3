import { signal } from '@preact/signals'

/** How far the clock of this machine is behind that of the service, in milliseconds. */
let offsetMs = 0

/** Corrects the clock by a time that the service has just told. */
export function setClock(serviceMs: number): void {
  offsetMs = serviceMs - Date.now()
}

/** Now by the clock of the service, in unix seconds. */
export const now = (): number => (Date.now() + offsetMs) / 1000

/** The same, renewed every second while the page is visible: what reads it is drawn again. */
export const ticking = signal(now())

setInterval(() => {
  if (!document.hidden) ticking.value = now()
}, 1000)
