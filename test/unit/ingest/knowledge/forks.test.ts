import { expect, test } from 'vitest'
import type { z } from 'zod'
import { HANDLED_FORKS } from '../../../../ingest/chain/forks.js'
import { readForkSchedule } from '../../../../ingest/knowledge/forks.js'

/** A node that answers to tempo_forkSchedule with this. */
const nodeWith = (answer: unknown) => ({
  request: async <Shape extends z.ZodType>(_method: string, _params: unknown[], shape: Shape) => shape.parse(answer),
})
const fork = (name: string, activationTime: number, active: boolean) => ({ name, activationTime, active })

test('the forks that are not handled are those that the table does not name, active or to come', async () => {
  const schedule = [fork('T12', 1_791_900_000, true), fork('T13', 1_795_000_000, true), fork('Nvnm1', 2 ** 53, false)]
  expect(await readForkSchedule(nodeWith({ schedule, active: 'T13' }))).toEqual({
    active: 'T13',
    schedule: [
      { name: 'T12', activation_time: 1_791_900_000, is_active: true },
      { name: 'T13', activation_time: 1_795_000_000, is_active: true },
      { name: 'Nvnm1', activation_time: 2 ** 32 - 1, is_active: false },
    ],
    unhandled: [
      { name: 'T13', activation_time: 1_795_000_000, is_active: true },
      { name: 'Nvnm1', activation_time: 2 ** 32 - 1, is_active: false },
    ],
  })
})

test('a node that lists no forks, or something else, is none that has unhandled ones', async () => {
  for (const answer of [undefined, null, {}, { active: 'T1', schedule: [{ name: 3 }] }])
    expect(await readForkSchedule(nodeWith(answer))).toBeNull()
})

test('the table of forks is in order, and has the times of the main network that are known', () => {
  const times = HANDLED_FORKS.flatMap(({ mainnetTime }) => mainnetTime ?? [])
  expect(times).toEqual([...times].sort())
  expect(times.slice(-2)).toEqual([1_789_048_800, 1_791_900_000])
})
