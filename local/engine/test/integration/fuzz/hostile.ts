import type { Random } from './random.js'

/** The content of the file `secret`, in a directory that no request may access. */
export const secret = 'top-secret-canary'

/** Statements that must never run: they only appear in strings, comments and rows, and after semicolons. */
export const forbidden = (directory: string): string[] => [
  'DROP TABLE canary.kept',
  'DROP DATABASE canary',
  'TRUNCATE TABLE canary.kept',
  'INSERT INTO canary.touched VALUES (1)',
  'INSERT INTO canary.touched SELECT 1',
  'INSERT INTO canary.touched FORMAT CSV 1',
  'CREATE TABLE canary.made (a UInt8) ENGINE = Memory',
  'ALTER TABLE canary.kept DELETE WHERE 1',
  'RENAME TABLE canary.kept TO canary.gone',
  'CREATE FUNCTION canary AS x -> x',
  `SELECT 1 INTO OUTFILE '${directory}/made'`,
  `INSERT INTO canary.touched FROM INFILE '${directory}/secret' FORMAT LineAsString`,
  `SELECT file('${directory}/secret')`,
]

const scraps = [
  '\n\n',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ';',
  ';;',
  "'",
  "''",
  '"',
  '`',
  '\\',
  "\\'",
  '\\N',
  '\\G',
  '$$',
  '$a$',
  '$',
  '--',
  '-- ',
  '#',
  '#!',
  '/*',
  '*/',
  '//',
  ',',
  '\t',
  '\0',
  '\x7f',
  '\ufeff',
  '\u00a0',
  '\u3000',
  '‘',
  '’',
  '“',
  '”',
  'é',
  '日本',
  '🙂',
  '{p: String}',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  'NULL',
  'VALUES',
  ' FORMAT CSV',
  ' FORMAT Null',
  ' SETTINGS max_threads = 1',
  ' UNION ALL ',
  ' FROM ',
  ' SELECT ',
  ' AS ',
  'x',
  '0',
  '__exception__',
]

/** Valid UTF-8 with all characters that split or end SQL, rows or headers. */
export function hostileText(random: Random, directory: string, pieces = 1 + random.int(6)): string {
  const statements = forbidden(directory)
  return random.times(pieces, () => (random.chance(0.25) ? random.pick(statements) : random.pick(scraps))).join('')
}

/** Changes a few bytes: flips, removes, duplicates or inserts them. */
export function mutate(random: Random, bytes: Buffer): Buffer {
  let changed = Buffer.from(bytes)
  for (let i = random.int(3); i >= 0 && changed.length > 0; i--) {
    const at = random.int(changed.length)
    const kind = random.int(4)
    if (kind === 0) changed[at] = random.int(256)
    else if (kind === 1) changed = changed.subarray(0, at)
    else if (kind === 2)
      changed = Buffer.concat([changed.subarray(0, at), Buffer.from(random.pick(scraps)), changed.subarray(at)])
    else
      changed = Buffer.concat([changed.subarray(0, at), changed.subarray(Math.min(changed.length, at + random.int(8)))])
  }
  return changed
}
