import { z } from 'zod'
import { PlumblineError } from '../../process/errors.js'

/** The node's answer violates the protocol: garbage, truncated, or about another block. */
export class RpcAnswerError extends PlumblineError {
  constructor(message: string) {
    super(message, { retryable: true })
  }
}

const hex = z.string().regex(/^0x[0-9a-f]*$/)
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
/** A JSON-RPC quantity that fits a double. */
export const Quantity = z
  .string()
  .regex(/^0x(0|[1-9a-f][0-9a-f]{0,13})$/)
  .transform(Number)

export const RawHeader = z.object({
  number: Quantity,
  hash,
  parentHash: hash,
  timestamp: Quantity,
  logsBloom: z.string().regex(/^0x[0-9a-f]{512}$/),
  transactions: z.array(hash),
})
export type RawHeader = z.infer<typeof RawHeader>

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text.toLowerCase())

export const RawLog = z.object({
  address,
  topics: z.array(hash).max(4),
  data: hex,
  blockNumber: Quantity,
  blockHash: hash,
  transactionHash: hash,
  logIndex: Quantity,
  /** Unix seconds of its block; newer nodes say it. */
  blockTimestamp: Quantity.nullish().catch(null),
})
export type RawLog = z.infer<typeof RawLog>

/** A block with its transactions, of which only who signed each is read. */
export const RawSigners = z.object({
  hash,
  transactions: z.array(z.object({ hash, from: address })),
})

export const RawReceipt = z.object({ logs: z.array(z.unknown()) })

export const Bytes = hex
