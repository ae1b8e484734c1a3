import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Random } from '../fuzz/random.js'
import { type Attempt, attempt, found } from './statements.js'
import { inFile, inOthers, inQueries, strangers, type World, withWorld } from './world.js'

/** The full size is 50,000 statements for each of five seeds: POLICY_STATEMENTS=50000 POLICY_SEEDS=1,2,3,4,5. */
const statements = Number(process.env.POLICY_STATEMENTS ?? 300)
const seeds = (process.env.POLICY_SEEDS ?? '1,2,3,4').split(',').map(Number)
const workers = 8

type Stranger = (typeof strangers)[number]
type Outcome = { fault: string | undefined; isPolicy: boolean; hasRun: boolean }

/** A refusal by the policy: by its lists, by grants, by constraints, because a user may only read. */
const byPolicy = /^Code: (497|344|452|164|115|48)\./
/** A refusal by the parser, of a statement that no user could run; 433 is for a codec with an expression. */
const bySyntax = /^Code: (62|433)\./

/** What went wrong with one attempt: any other error would mean that something of it ran before. */
async function tried(w: World, name: Stranger, { sql, params, rows, mayRun = false }: Attempt): Promise<Outcome> {
  // Own statements are not logged, so that the log of queries stays as short as it was.
  const { status, text } = await w.ask(name, sql, { ...params, log_queries: '0' }, rows)
  const hidden = name === 'analyst' ? [inFile, inQueries] : [inFile, inQueries, inOthers]
  const leaks = hidden.some((word) => text.includes(word))
  const what = `${name}: ${sql} ${JSON.stringify(params)} ${rows ?? ''}\n${status} ${text.slice(0, 300)}`
  const isPolicy = byPolicy.test(text)
  // Rows that may not be expressions are read as values, which they are not.
  const isRefused = isPolicy || bySyntax.test(text) || (rows !== undefined && status !== 200)
  return { fault: leaks || !(isRefused || mayRun) ? what : undefined, isPolicy, hasRun: status === 200 }
}

test('nothing forbidden runs, wherever it is nested and however it is written', { timeout: 5_400_000 }, async () => {
  await withWorld(async (world) => {
    const faults: string[] = []
    const counts = { refused: 0, run: 0 }
    for (const name of strangers) {
      for (const one of found) {
        const { fault } = await tried(world, name, one)
        if (fault !== undefined) faults.push(fault)
      }
    }
    for (const seed of seeds) {
      const random = new Random(seed)
      let left = statements
      const work = async () => {
        while (left-- > 0 && faults.length < 20) {
          const name = strangers[left % strangers.length] as Stranger
          const made = attempt(random, world, name !== 'analyst')
          const { fault, isPolicy, hasRun } = await tried(world, name, made)
          if (fault !== undefined) faults.push(`seed ${seed}: ${fault}`)
          if (isPolicy) counts.refused++
          if (hasRun) counts.run++
        }
      }
      await Promise.all(Array.from({ length: workers }, work))
      if (statements > 1000) console.log(`seed ${seed}: ${statements} statements, ${JSON.stringify(counts)} so far`)
    }
    expect(faults.join('\n\n')).toBe('')
    expect(world.calls()).toBe(0)
    expect(existsSync(world.unwritten)).toBe(false)
    expect(world.canaryText()).toBe(inFile)
    // Otherwise the statements would be too odd for the engine's parser to be worth anything.
    expect(counts.refused).toBeGreaterThan(statements * seeds.length * 0.5)
    expect((await world.ask('owner', 'SELECT count() FROM a.other')).text).toBe('0\n')
    // The owner sees what the others must not.
    expect((await world.ask('owner', 'SELECT * FROM system.processes')).text).toContain(inQueries)
    expect((await world.ask('owner', 'SELECT * FROM system.query_log')).text).toContain(inQueries)
  })
})
