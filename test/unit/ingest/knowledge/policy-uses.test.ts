import { describe, expect, test, vi } from 'vitest'
import type { ChainEvent } from '../../../../ingest/chain/event-types.js'
import { createPolicyUses } from '../../../../ingest/knowledge/policy-uses.js'
import { touchedStates } from '../../../../ingest/stages/states.js'
import { randomFor } from '../../../../local/chain/random.js'

const STABLES = ['0xa', '0xb', '0xc', '0xd']
const place = { blockNumber: 1, logIndex: 0, txHash: '0x' }

const adopts = (address: string, newPolicyId: bigint): ChainEvent =>
  ({ ...place, name: 'TransferPolicyUpdate', address, args: { updater: '0x', newPolicyId } }) as ChainEvent
const created = (policyId: bigint): ChainEvent[] => [
  {
    ...place,
    name: 'PolicyCreated',
    address: '0x403c',
    args: { policyId, updater: '0x', policyType: 0 },
  } as ChainEvent,
  administered(policyId),
]
const administered = (policyId: bigint): ChainEvent =>
  ({
    ...place,
    name: 'PolicyAdminUpdated',
    address: '0x403c',
    args: { policyId, updater: '0x', admin: '0x' },
  }) as ChainEvent

describe('a new administrator of a policy', () => {
  test('makes nothing be read if the policy was created in the same block', () => {
    const events = [...created(7n), ...created(8n), administered(7n)]
    expect(touchedStates(events)).toEqual({ stables: new Set(), policies: new Set() })
  })

  test('makes only the stables be read that have the policy, and each be asked about once', async () => {
    const uses = createPolicyUses()
    const read = vi.fn(async (unknown: readonly string[]) => unknown.map((stable) => (stable === '0xb' ? 7n : 1n)))
    expect(touchedStates([administered(7n)]).policies).toEqual(new Set([7n]))
    expect(await uses.usersOf(new Set([7n]), STABLES, read)).toEqual(['0xb'])
    for (let i = 0; i < 1000; i++) expect(await uses.usersOf(new Set([9n]), STABLES, read)).toEqual([])
    uses.learn([adopts('0xc', 9n)])
    expect(await uses.usersOf(new Set([7n, 9n]), STABLES, read)).toEqual(['0xb', '0xc'])
    expect(read.mock.calls).toEqual([[STABLES]])
    // A stable that is sampled from now on.
    expect(await uses.usersOf(new Set([1n]), [...STABLES, '0xe'], read)).toEqual(['0xa', '0xd', '0xe'])
    expect(read).toHaveBeenLastCalledWith(['0xe'])
  })

  test('makes every stable be read of which the node no longer has the policy', async () => {
    const uses = createPolicyUses()
    expect(await uses.usersOf(new Set([7n]), STABLES, async () => null)).toEqual(STABLES)
    expect(await uses.usersOf(new Set([7n]), STABLES, async () => [1n, 1n, 7n, 1n])).toEqual(['0xc'])
  })
})

test('over any history, the stables found are exactly those whose state the policies change', async () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = randomFor(seed, 'policies')
    const truth = new Map(STABLES.map((stable) => [stable, BigInt(random.int(0, 5))]))
    let newest = 5n
    // Whoever starts late, or again, finds the same.
    let uses = createPolicyUses()
    for (let block = 0; block < 30; block++) {
      const events: ChainEvent[] = []
      const adopters = new Set<string>()
      for (let i = random.int(0, 4); i > 0; i--) {
        const kind = random.int(0, 2)
        if (kind === 0) events.push(...created(++newest))
        else if (kind === 1) events.push(administered(BigInt(random.int(2, Number(newest)))))
        else {
          const stable = random.pick(STABLES)
          // The chain refuses a policy that does not exist yet.
          const policy = BigInt(random.int(0, Number(newest)))
          truth.set(stable, policy)
          adopters.add(stable)
          events.push(adopts(stable, policy))
        }
      }
      if (random.chance(0.1)) uses = createPolicyUses()
      const { stables, policies } = touchedStates(events)
      uses.learn(events)
      const found = await uses.usersOf(policies, STABLES, async (unknown) =>
        unknown.map((stable) => truth.get(stable) as bigint),
      )
      const changed = new Set(
        events.flatMap((event) => (event.name === 'PolicyAdminUpdated' ? [event.args.policyId] : [])),
      )
      const users = STABLES.filter((stable) => changed.has(truth.get(stable) as bigint))
      expect([...new Set([...found, ...stables])].sort()).toEqual([...new Set([...users, ...adopters])].sort())
    }
  }
})
