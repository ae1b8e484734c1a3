import { expect, test } from 'vitest'
import { depth } from '../../../../test/support/depth.js'
import { analyse, type Statement } from '../../sql/statement.js'
import { withDirectory } from './engine.js'
import { hostileText } from './fuzz/hostile.js'
import { Parser } from './fuzz/parser.js'
import { Random } from './fuzz/random.js'
import { statement } from './fuzz/statements.js'

/** Number of statements: 100,000 for the full run. */
const texts = depth('FUZZ_TEXTS', 3_000, 100_000)
const seed = Number(process.env.FUZZ_SEED ?? (process.env.DRILL === 'yes' ? Date.now() % 1_000_000 : 4242))

const path = '/nowhere/pipe-1'
const classes = { read: 0, write: 1, control: 3, unparsed: 4 }

const words = [
  'SELECT',
  'FROM',
  'numbers(3)',
  '1',
  "'a'",
  'x',
  'INTO',
  'OUTFILE',
  'INFILE',
  'FORMAT',
  'CSV',
  'SETTINGS',
  'max_threads = 1',
  ',',
  '(',
  ')',
  ';',
  '*',
  'WITH',
  'AS',
  'UNION ALL',
  'INSERT INTO t',
  'VALUES',
  'EXPLAIN',
  'TRUNCATE',
  'COMPRESSION',
  '--',
  '\n',
  '/*',
  '*/',
  '`',
  '"',
  "'",
  '$$',
  '$a$',
  '#',
  '# ',
  '#!',
  '\\',
  "x'41'",
  "b'1'",
  '0x1f',
  '1e5',
  '.5',
  '{p: String}',
  '[',
  ']',
  '::',
  '->',
  '?',
  '@@x',
  '‘',
  '’',
  'é',
  '\u3000',
  '\ufeff',
]

const soup = (random: Random) =>
  random.pick(['SELECT ', 'SELECT 1', 'INSERT INTO t ', 'WITH ', '(', '']) +
  random.times(1 + random.int(9), () => random.pick(words)).join(random.pick(['', ' ']))

/** The statement as the gateway passes it to the engine. */
function asRun(found: Statement): { sql: string; clause: string } | undefined {
  if (found.kind === 'select') {
    const clause = `INTO OUTFILE '${path}' TRUNCATE`
    const format = found.format === undefined ? 'FORMAT TSV' : found.sql.slice(found.cut)
    return { sql: `${found.sql.slice(0, found.cut)} ${clause} COMPRESSION 'none' ${format}`, clause }
  }
  if (found.kind !== 'insert') return undefined
  return {
    sql: `${found.head} FROM INFILE '${path}' COMPRESSION 'none' ${found.tail}`,
    clause: `FROM INFILE '${path}'`,
  }
}

test(
  'the gateway splits statements where the engine does',
  async () => {
    console.log(`FUZZ_SEED=${seed} FUZZ_TEXTS=${texts}`)
    await withDirectory(async (directory) => {
      const parser = await Parser.start(directory)
      const random = new Random(seed)
      const seen = { refused: 0, select: 0, insert: 0, kill: 0, other: 0, unfit: 0, parsed: 0 }
      for (let n = 0; n < texts; n++) {
        const text = random.pick([
          () => soup(random),
          () => statement(random, '/nowhere'),
          () => hostileText(random, '/nowhere'),
        ])()
        let found: Statement
        try {
          found = analyse(text)
        } catch {
          seen.refused++
          continue
        }
        seen[found.kind]++
        const shown = JSON.stringify(text)
        const run = asRun(found)
        const plain = found.kind === 'insert' ? `${found.head} ${found.tail}` : found.sql
        const [own, clause] = await parser.parse(run ? [plain, run.sql] : [plain])
        // A single statement for the gateway is a single one for the engine.
        expect(own?.count, shown).toBeLessThanOrEqual(1)
        // No file clause was overlooked.
        if (found.kind === 'select')
          expect([classes.read, classes.write, classes.unparsed], shown).toContain(own?.class)
        expect(own?.formatted ?? '', shown).not.toMatch(/^[^'"`]*(INTO OUTFILE|FROM INFILE) '/)
        const isPlainSelect = found.kind === 'select' && own?.class === classes.read
        if (!run || !clause || own?.formatted == null || !(isPlainSelect || found.kind === 'insert')) continue
        // The engine sees the clause that the gateway adds as a clause, not as part of a string or comment. Where it does
        // not fit (after the SETTINGS of a SELECT in brackets) there is an error, and the statement runs unchanged.
        expect(clause.count, shown).toBeLessThanOrEqual(1)
        if (clause.formatted === null) {
          seen.unfit++
          continue
        }
        seen.parsed++
        expect(clause.formatted, shown).toContain(run.clause)
        if (found.kind === 'select') expect(clause.class, shown).toBe(classes.control)
      }
      console.log(JSON.stringify(seen))
      expect(seen.parsed).toBeGreaterThan(texts / 50)
      await parser.stop()
    })
  },
  60_000 + texts * 50,
)
