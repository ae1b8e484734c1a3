import { printableJson } from './text.js'

/** Where a command writes. */
export type Output = {
  write: (text: string) => void
  json: boolean
  /** The terminal; null if the output goes to a file or another program. */
  terminal: { columns: number; rows: number } | null
}

export const lines = ({ write }: Output, all: readonly string[]): void => write(`${all.join('\n')}\n`)

export const jsonTo = ({ write }: Output, value: unknown): void => write(`${printableJson(value, 2)}\n`)
