import { expect, test } from 'vitest'
import { flipTicks, type Level, ladderChanges, type RestingOrder, wantedLadder } from '../../ladder.js'

const rest = (levels: readonly Level[]): RestingOrder[] =>
  levels.map((level, i) => ({ ...level, id: BigInt(i + 1), remaining: level.amount }))
const opened = (bidTick: number, askTick: number): RestingOrder[] =>
  rest(ladderChanges([], wantedLadder({ bidTick, askTick })).place)

test('the best prices are the planned ones, with deeper levels behind them', () => {
  for (const bidTick of [-1400, -450, -10, 0, 300, 1400]) {
    const levels = wantedLadder({ bidTick, askTick: bidTick + 20 })
    const bids = levels.filter((l) => l.isBid).map((l) => l.tick)
    const asks = levels.filter((l) => !l.isBid).map((l) => l.tick)
    expect(bids[0]).toBe(bidTick)
    expect(asks[0]).toBe(bidTick + 20)
    expect(bids).toEqual([...bids].sort((a, b) => b - a))
    expect(asks).toEqual([...asks].sort((a, b) => a - b))
    expect(new Set(bids).size).toBe(3)
    for (const { tick } of levels) {
      expect(Number.isInteger(tick / 10)).toBe(true)
      expect(Math.abs(tick)).toBeLessThanOrEqual(2000)
    }
  }
})

test('an empty side has no orders at all', () => {
  expect(wantedLadder({ bidTick: null, askTick: 20 }).every((l) => !l.isBid)).toBe(true)
  expect(wantedLadder({ bidTick: null, askTick: null })).toEqual([])
})

test('nothing is cancelled or placed if nothing has changed', () => {
  const changes = ladderChanges(opened(-10, 10), wantedLadder({ bidTick: -10, askTick: 10 }))
  expect(changes).toEqual({ cancel: [], place: [] })
})

test('drift moves one order on each side', () => {
  const { cancel, place } = ladderChanges(opened(-10, 10), wantedLadder({ bidTick: -20, askTick: 0 }))
  expect(cancel.map((o) => o.tick)).toEqual([-10, 10])
  expect(place.map((l) => l.tick)).toEqual([-20, 0])
})

test('a break moves the middle level away, and it stays there afterwards', () => {
  const calm = opened(-10, 10)
  const fall = ladderChanges(calm, wantedLadder({ bidTick: -300, askTick: -280 }))
  expect(fall.cancel.map((o) => o.tick)).toEqual([-10, -150, 10])
  expect(fall.place.map((l) => l.tick)).toEqual([-300, -380, -280])
  const broken = rest([...calm.filter((o) => !fall.cancel.includes(o)), ...fall.place])
  const back = ladderChanges(broken, wantedLadder({ bidTick: -10, askTick: 10 }))
  expect(back.cancel.map((o) => o.tick)).toEqual([-300, -280])
  expect(back.place.map((l) => l.tick)).toEqual([-10, 10])
})

test('an order that is more than half filled is replaced by a full one', () => {
  const orders = opened(-10, 10)
  const top = orders[0] as RestingOrder
  top.remaining = top.amount / 2n - 1n
  const { cancel, place } = ladderChanges(orders, wantedLadder({ bidTick: -10, askTick: 10 }))
  expect(cancel).toEqual([top])
  expect(place).toEqual([{ isBid: true, tick: -10, amount: top.amount }])
})

test('a flip order lies between bid and ask and flips to above the ask', () => {
  expect(flipTicks(-10)).toEqual({ tick: 0, flipTick: 20 })
})
