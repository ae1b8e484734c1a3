import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { test } from './engine.js'

test('a dictionary is reloaded from its table when its LIFETIME has expired, and only then', async ({ http }) => {
  await http('CREATE TABLE source (k UInt64, v String) ENGINE = MergeTree ORDER BY k')
  await http("INSERT INTO source VALUES (1, 'old')")
  const define = (name: string, lifetime: number) =>
    http(
      `CREATE DICTIONARY \`${name}\` (k UInt64, v String) PRIMARY KEY k SOURCE(CLICKHOUSE(TABLE 'source')) LAYOUT(FLAT()) LIFETIME(${lifetime})`,
    )
  await define('short_lived', 1)
  await define('lasting', 0)
  const values = async () =>
    (await http("SELECT dictGet('short_lived', 'v', 1::UInt64), dictGet('lasting', 'v', 1::UInt64)")).text
  expect(await values()).toBe('old\told\n')
  await http('TRUNCATE TABLE source')
  await http("INSERT INTO source VALUES (1, 'new')")
  while (!(await values()).startsWith('new')) await sleep(200)
  expect(await values()).toBe('new\told\n')
})
