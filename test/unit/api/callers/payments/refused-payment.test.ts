import { Errors } from 'mppx'
import { pino } from 'pino'
import {
  CallExecutionError,
  HttpRequestError,
  RpcRequestError,
  TimeoutError,
  TransactionReceiptNotFoundError,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { PaymentsAwayError } from '../../../../../api/callers/payments/errors.js'
import { meaningOf, RefusedPayment } from '../../../../../api/callers/payments/refused-payment.js'

const url = 'http://node.example/secret-key'
const body = { params: ['a signed transaction'] }
const rpcError = (code: number, message: string) => new RpcRequestError({ body, url, error: { code, message } })
const inCall = (cause: Error) => new CallExecutionError(cause as never, {})

describe('an error while a payment is made', () => {
  test.for([
    ['nobody answered', new HttpRequestError({ body, url, status: 502 })],
    ['too slow', new TimeoutError({ body, url })],
    ['too slow, in a call', inCall(new TimeoutError({ body, url }))],
    ['not mined in time', rpcError(4, 'not in a block within 2 s')],
    ['too many requests', rpcError(-32005, 'slow down')],
  ] as const)('leaves the result open, and is logged without the request and the URL: %s', ([, error]) => {
    const meaning = meaningOf(error) as PaymentsAwayError
    expect(meaning).toBeInstanceOf(PaymentsAwayError)
    const lines: string[] = []
    pino({}, { write: (line: string) => void lines.push(line) }).error({ err: meaning }, 'request failed')
    expect(lines).toEqual([expect.stringContaining('cannot be reached')])
    for (const secret of ['secret-key', 'a signed transaction']) expect(lines[0]).not.toContain(secret)
  })

  test.for([
    ['insufficient funds for gas', 'insufficient-funds'],
    ['execution reverted: InsufficientBalance', 'insufficient-funds'],
    ['nonce too low', 'verification-failed'],
  ] as const)('refuses it where the node does: %s', ([message, kind]) => {
    for (const error of [rpcError(-32000, message), inCall(rpcError(3, message))]) {
      const meaning = meaningOf(error) as RefusedPayment
      expect(meaning).toBeInstanceOf(RefusedPayment)
      expect(meaning.refusal.kind).toBe(kind)
      // The payer may get the funds.
      expect(meaning.refusal.isFinal).toBeFalsy()
      expect(JSON.stringify([meaning.refusal, meaning.message])).not.toContain('secret-key')
    }
  })

  test('of mppx keeps its kind and the first line of its message', () => {
    const error = new Errors.PaymentExpiredError({ expires: '2026-01-01T00:00:00Z' })
    expect(meaningOf(error)).toMatchObject({ refusal: { kind: 'payment-expired', detail: error.message } })
  })

  test('about a hash in no block has a retry time', () => {
    const error = new TransactionReceiptNotFoundError({ hash: '0x12' })
    expect(meaningOf(error)).toMatchObject({ refusal: { kind: 'verification-failed', retryAfterSeconds: 1 } })
  })

  test('of this service is returned unchanged', () => {
    const error = new TypeError('a mistake')
    expect(meaningOf(error)).toBe(error)
  })
})
