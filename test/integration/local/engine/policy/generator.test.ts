import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Random } from '../fuzz/random.js'
import { type Attempt, attempt } from './statements.js'
import { inFile, inOthers, strangers, type World, withWorld } from './world.js'

/** The full size is 50,000 statements for each of five seeds: POLICY_STATEMENTS=50000 POLICY_SEEDS=1,2,3,4,5. */
const statements = Number(process.env.POLICY_STATEMENTS ?? 400)
const seeds = (process.env.POLICY_SEEDS ?? '1,2').split(',').map(Number)
const workers = 8

type Outcome = { fault: string | undefined; isPolicy: boolean }

/** What went wrong with one attempt, or whether the policy refused it rather than the parser. */
async function tried(w: World, name: (typeof strangers)[number], { sql, params, rows }: Attempt): Promise<Outcome> {
  const { status, text } = await w.ask(name, sql, params, rows)
  const leaks = text.includes(inFile) || text.includes(inOthers)
  const what = `${name}: ${sql} ${JSON.stringify(params)} ${rows ?? ''}\n${status} ${text.slice(0, 300)}`
  return {
    fault: status === 200 || leaks ? what : undefined,
    isPolicy: /^Code: (497|344|452|164|115)\./.test(text),
  }
}

test('nothing forbidden runs, wherever it is nested and however it is written', { timeout: 3_600_000 }, async () => {
  await withWorld(async (world) => {
    const faults: string[] = []
    let refused = 0
    for (const seed of seeds) {
      const random = new Random(seed)
      let left = statements
      const work = async () => {
        while (left-- > 0 && faults.length < 20) {
          const name = strangers[left % strangers.length] as (typeof strangers)[number]
          const made = attempt(random, world, name !== 'analyst')
          const { fault, isPolicy } = await tried(world, name, made)
          if (fault !== undefined) faults.push(`seed ${seed}: ${fault}`)
          if (isPolicy) refused++
        }
      }
      await Promise.all(Array.from({ length: workers }, work))
    }
    expect(faults.join('\n\n')).toBe('')
    expect(world.calls()).toBe(0)
    expect(existsSync(world.unwritten)).toBe(false)
    expect(world.canaryText()).toBe(inFile)
    // Otherwise the statements would be too odd for the engine's parser to be worth anything.
    expect(refused).toBeGreaterThan(statements * seeds.length * 0.5)
    expect((await world.ask('owner', 'SELECT count() FROM a.other')).text).toBe('0\n')
  })
})
