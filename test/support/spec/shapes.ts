import { z } from 'zod'

/** An address as answers contain it. */
export const address = z.string().regex(/^0x[0-9a-f]{40}$/)
export const txHash = z.string().regex(/^0x[0-9a-f]{64}$/)
/** ISO 8601, for example shape YYYY-MM-DDTHH:MM:SSZ. */
export const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
/** A raw on-chain integer. */
export const rawInteger = z.string().regex(/^\d+$/)
export const count = z.number().int().min(0)
export const tokens = z.number().min(0)
