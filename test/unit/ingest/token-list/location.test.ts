import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { shownLocation, tokenListLocation } from '../../../../ingest/token-list/location.js'
import { parseEnv } from '../../../../process/environment.js'
import { publicList } from '../../../support/token-list.js'

const folder = mkdtempSync(join(tmpdir(), 'plumbline-list-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const parse = (TOKEN_LIST: string) => parseEnv(z.object({ TOKEN_LIST: tokenListLocation }), { TOKEN_LIST }).TOKEN_LIST

function file(content: string): string {
  const path = join(folder, 'list.json')
  writeFileSync(path, content)
  return path
}

test('TOKEN_LIST is an https URL or the path of a list', () => {
  expect(parse('https://tokenlist.tempo.xyz/list/4217')).toEqual({
    url: new URL('https://tokenlist.tempo.xyz/list/4217'),
  })
  const path = file(JSON.stringify(publicList))
  expect(parse(path)).toEqual({ path })
})

test.for(['http://127.0.0.1:8000/list', 'http://localhost/list', 'http://[::1]/list'])(
  '%s is on this machine',
  (url) => {
    expect(parse(url)).toEqual({ url: new URL(url) })
  },
)

test.for(['http://user:hunter2@lists.example/list', 'ftp://user:hunter2@lists.example', 'https://user:hunter2@'])(
  '%s is refused, and not printed',
  (url) => {
    expect(() => parse(url)).toThrow(/^ {2}TOKEN_LIST: must be a URL that starts with https/m)
    expect(() => parse(url)).not.toThrow(/hunter2/)
  },
)

test('a file that is missing, endless, too large or wrong is refused, with all that is wrong in it', () => {
  expect(() => parse(join(folder, 'none.json'))).toThrow(/^ {2}TOKEN_LIST: cannot be read: ENOENT$/m)
  expect(() => parse('/dev/zero')).toThrow(/^ {2}TOKEN_LIST: is not a file$/m)
  expect(() => parse(file(' '.repeat(5_000_001)))).toThrow(/^ {2}TOKEN_LIST: the list is larger than 5 MB$/m)
  expect(() => parse(file('{'))).toThrow(/^ {2}TOKEN_LIST: the list is not JSON$/m)
  const broken = file(JSON.stringify({ ...publicList, name: '', tokens: [] }))
  expect(() => parse(broken)).toThrow(
    /TOKEN_LIST: the list.name: .*\n {2}TOKEN_LIST: the list.tokens: must not be empty/,
  )
})

test('of a URL only the origin is shown, since its path, query and credentials may be secret', () => {
  const shown = shownLocation({ url: new URL('https://user:hunter2@lists.example/hunter2?key=hunter2') })
  expect(shown).toBe('https://lists.example')
})
