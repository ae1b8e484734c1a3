/** On the root of the page while it is printed: the colours of paper, whatever the theme is. */
const ON_PAPER = 'on-paper'

/** Gives the page the colours of paper while it is printed. Call it before anything is shown. */
export function followPrinting(): void {
  addEventListener('beforeprint', () => document.documentElement.classList.add(ON_PAPER))
  addEventListener('afterprint', () => document.documentElement.classList.remove(ON_PAPER))
}

/** Calls `act` when the colours of the page change: with another theme, before it is printed, and after. Returns its end. */
export function onColours(act: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', act)
  addEventListener('beforeprint', act)
  addEventListener('afterprint', act)
  return () => {
    dark.removeEventListener('change', act)
    removeEventListener('beforeprint', act)
    removeEventListener('afterprint', act)
  }
}

/** Whether the page is being printed. */
export const isOnPaper = (): boolean => document.documentElement.classList.contains(ON_PAPER)
