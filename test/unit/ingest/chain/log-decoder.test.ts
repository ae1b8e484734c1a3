import { type AbiEvent, decodeEventLog, encodeAbiParameters, encodeEventTopics, type Hex, toEventSelector } from 'viem'
import { Abis } from 'viem/tempo'
import { describe, expect, test } from 'vitest'
import { logDecoder } from '../../../../ingest/chain/log-decoder.js'
import { remembered } from '../../../../ingest/chain/remembered.js'
import { encodedLog } from '../../../support/logs.js'

const events = Object.values(Abis)
  .flatMap((abi) => abi as readonly { type: string }[])
  .filter((item): item is AbiEvent => item.type === 'event')
  .filter((event, i, all) => all.findIndex((other) => toEventSelector(other) === toEventSelector(event)) === i)

/** Values at the ends of each type's range, and one in between. */
const valuesOf = (type: string): unknown[] => {
  const bits = Number(/\d+$/.exec(type)?.[0])
  if (type === 'address') return [`0x${'00'.repeat(20)}`, `0x${'ff'.repeat(20)}`, `0x20c0${'ab'.repeat(18)}`]
  if (type === 'bool') return [false, true, true]
  if (type.startsWith('bytes') && bits) return ['00', 'ff', 'a5'].map((byte) => `0x${byte.repeat(bits)}`)
  if (type.startsWith('uint')) return [0n, 2n ** BigInt(bits) - 1n, 77n].map((n) => (bits <= 48 ? Number(n) : n))
  if (type.startsWith('int')) {
    const half = 2n ** BigInt(bits - 1)
    return [-half, half - 1n, -10n].map((n) => (bits <= 48 ? Number(n) : n))
  }
  if (type === 'string') return ['', 'é\0"', 'x'.repeat(100)]
  if (type === 'bytes') return ['0x', '0x00', `0x${'ab'.repeat(99)}`]
  throw new Error(`no values for ${type}`)
}

const simple = events.filter(({ inputs }) => inputs.every(({ type }) => !type.includes('[') && type !== 'tuple'))
const lower = (args: object): object =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length === 42 ? value.toLowerCase() : value,
    ]),
  )

function encoded(event: AbiEvent, pick: number) {
  const values = event.inputs.map(({ type }) => valuesOf(type)[pick])
  const args = Object.fromEntries(event.inputs.map(({ name }, i) => [name, values[i]]))
  const plain = event.inputs.flatMap((input, i) => (input.indexed ? [] : [{ input, value: values[i] }]))
  const topics = encodeEventTopics({ abi: [event], args } as never) as string[]
  const data = encodeAbiParameters(
    plain.map(({ input }) => input),
    plain.map(({ value }) => value),
  )
  return { topics, data }
}

const log = (topics: string[], data: string) => ({
  address: `0x${'20'.repeat(20)}`,
  topics,
  data,
  blockNumber: 7,
  blockHash: '',
  transactionHash: '',
  logIndex: 3,
})

describe('logs are decoded as by viem', () => {
  test.each(simple.map((event) => [event.name, event] as const))('%s', (_, event) => {
    const decode = logDecoder(event)
    for (const pick of [0, 1, 2]) {
      const { topics, data } = encoded(event, pick)
      const { args } = decodeEventLog({ abi: [event], topics: topics as [Hex, ...Hex[]], data }) as { args: object }
      expect(decode(log(topics, data))).toEqual(lower(args))
    }
  })

  test('the cases cover almost every event of the chain', () => {
    expect(simple.length).toBeGreaterThan(40)
    expect(simple.length / events.length).toBeGreaterThan(0.8)
  })
})

describe('a log that does not match its topic is an error that names the log', () => {
  const transfer = events.find(({ name }) => name === 'Transfer') as AbiEvent
  const { topics, data } = encoded(transfer, 2)
  test.each([
    ['a topic is missing', topics.slice(0, 2), data],
    ['a topic too many', [...topics, topics[1] as string], data],
    ['data is cut', topics, data.slice(0, -2)],
    ['data is too long', topics, `${data}00`],
    ['an address has more than 20 bytes', [topics[0] as string, `0x01${'0'.repeat(62)}`, topics[2] as string], data],
  ])('%s', (_, badTopics, badData) => {
    expect(() => logDecoder(transfer)(log(badTopics, badData))).toThrow('log 3 of block 7 is not a valid Transfer')
  })

  test.each(['TokenCreated', 'LogoURIUpdated', 'TransferBlocked'])('%s, which has a text or bytes', (name) => {
    const event = events.find((candidate) => candidate.name === name) as AbiEvent
    const good = encoded(event, 2)
    for (const bad of [log(good.topics, '0x'), log(good.topics, good.data.slice(0, 130)), log([], good.data)])
      expect(() => logDecoder(event)(bad)).toThrow(`log 3 of block 7 is not a valid ${name}`)
  })

  test.each([
    ['PauseStateUpdate', 'isPaused', '02'],
    ['OrderPlaced', 'tick', '8000'],
    ['OrderPlaced', 'amount', `01${'00'.repeat(16)}`],
  ])('%s with an impossible %s', (name, _, digits) => {
    const event = events.find((candidate) => candidate.name === name) as AbiEvent
    const { topics, data } = encoded(event, 0)
    const words = data.slice(2).match(/.{64}/g) as string[]
    const at = event.inputs.filter(({ indexed }) => !indexed).findIndex((input) => input.name === _)
    words[at] = digits.padStart(64, '0')
    expect(() => logDecoder(event)(log(topics, `0x${words.join('')}`))).toThrow(`${_} is no`)
  })
})

test('a string that looks like an address is not changed', () => {
  const event = events.find(({ name }) => name === 'TokenCreated') as AbiEvent
  const symbol = `0x${'AbCd'.repeat(10)}`
  const log = encodedLog('tip20Factory', 'TokenCreated', `0x20fc${'0'.repeat(36)}`, {
    token: symbol.toLowerCase(),
    name: symbol,
    symbol,
    currency: 'USD',
    quoteToken: symbol.toLowerCase(),
    admin: symbol.toLowerCase(),
    salt: `0x${'00'.repeat(32)}`,
  })
  expect(logDecoder(event)(log)).toMatchObject({ name: symbol, symbol, admin: symbol.toLowerCase() })
})

test('a text has the value that the function gives it, however many others were read meanwhile', () => {
  let reads = 0
  const lengthOf = remembered((text) => {
    reads++
    return text.endsWith('7') ? undefined : { length: text.length, text }
  })
  const first = lengthOf('0')
  expect(lengthOf('0')).toBe(first)
  expect(reads).toBe(1)
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 60_000; n++) {
      const text = `${n}`
      const expected = text.endsWith('7') ? undefined : { length: text.length, text }
      if (JSON.stringify(lengthOf(text)) !== JSON.stringify(expected)) expect(lengthOf(text)).toEqual(expected)
    }
  }
  expect(lengthOf('0')).toEqual(first)
})
