/** Facts that are read together. The catalogue is what the others need to be understood. */
export const FAMILIES = ['catalogue', 'logs', 'pegs', 'state'] as const

export type Family = (typeof FAMILIES)[number]
