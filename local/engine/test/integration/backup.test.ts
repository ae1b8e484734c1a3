import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { httpTo, start, test, withDirectory } from './engine.js'

const tables = `SELECT count(), sum(a) FROM`

test('a backup to a directory, a tar or on top of another backup is restored unchanged', async ({ http }) => {
  for (const query of [
    'CREATE DATABASE taken',
    'CREATE TABLE taken.t (a UInt64) ENGINE = MergeTree ORDER BY a',
    'INSERT INTO taken.t SELECT number FROM numbers(1000)',
  ])
    expect(await http(query), query).toMatchObject({ status: 200 })
  for (const [i, place] of [
    "File('whole')",
    "File('whole.tar')",
    "File('whole.tar.zst')",
    "File('below/a/folder') SETTINGS base_backup = File('whole')",
  ].entries()) {
    expect(await http(`BACKUP DATABASE taken TO ${place}`), place).toMatchObject({ status: 200 })
    await http(`RESTORE DATABASE taken AS back_${i} FROM ${place}`)
    expect(await http(`${tables} back_${i}.t`), place).toMatchObject({ text: '1000\t499500\n' })
  }
  expect(await http("BACKUP DATABASE taken TO File('whole')")).toMatchObject({
    text: expect.stringMatching(/^Code: 598\./),
  })
})

test('backups have one allowed place, and readers cannot take any', async ({ http, dataDir }) => {
  await http('CREATE DATABASE guarded')
  await withDirectory(async (directory) => {
    for (const place of [
      `File('${directory}/x')`,
      "File('../x')",
      "File('a/../../x')",
      "File(collection, 'x')",
      'File(x)',
      "Disk('default', 'x')",
      "S3('http://127.0.0.1:1/b/x', 'a', 'b')",
      "`S3`('http://127.0.0.1:1/b/x', 'a', 'b')",
      "AzureBlobStorage('x', 'y', 'z')",
      "URL('http://127.0.0.1:1/')",
      "Memory('x')",
      'Null',
      'Null()',
      'collection',
      "File('ok') SETTINGS base_backup = Disk('default', 'x')",
      "File('ok') SETTINGS base_backup = File('../x')",
    ]) {
      for (const query of [
        `SNAPSHOT ALL TO ${place}`,
        `BACKUP DATABASE guarded TO ${place}`,
        `/**/restore DATABASE guarded AS g FROM ${place}`,
      ]) {
        const answer = await http({ body: query })
        expect(answer.text, query).toMatch(/^Code: (36|62|78|497|599)\./)
      }
    }
    expect(readdirSync(directory)).toEqual([])
    expect(existsSync(join(dataDir, 'x'))).toBe(false)
  })
  const query = "BACKUP DATABASE guarded TO File('by-a-reader')"
  expect(await http({ query, method: 'GET' })).toMatchObject({ text: expect.stringMatching(/^Code: 164\./) })
  for (const readonly of ['1', '2']) {
    expect(await http({ query, url: { readonly } })).toMatchObject({ text: expect.stringMatching(/^Code: 164\./) })
  }
  expect(readdirSync(join(dataDir, 'backups'))).not.toContain('by-a-reader')
})

test('backups can be kept in another directory, where only their owner can read them', async () => {
  await withDirectory(async (directory) => {
    const backups = join(directory, 'elsewhere')
    const engine = await start(join(directory, 'data'), { backups })
    const http = httpTo(engine.url)
    await http('CREATE TABLE t (a UInt8) ENGINE = MergeTree ORDER BY a')
    await http('INSERT INTO t SELECT 1')
    await http("BACKUP TABLE t TO File('t')")
    await http("BACKUP TABLE t TO File('t.tar')")
    await engine.stop()
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
      (file) => !file.isSymbolicLink(),
    )
    expect(files.some(({ parentPath }) => parentPath.startsWith(backups))).toBe(true)
    for (const file of files) {
      const path = join(file.parentPath, file.name)
      expect(statSync(path).mode & 0o077, path).toBe(0)
    }
  })
})

test('a running backup does not delay shutdown', async () => {
  await withDirectory(async (directory) => {
    const engine = await start(directory)
    const http = httpTo(engine.url)
    await http(
      'CREATE TABLE t (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS max_bytes_to_merge_at_max_space_in_pool = 1',
    )
    await http('INSERT INTO t SELECT rand64() FROM numbers(20000000) SETTINGS max_insert_block_size = 1000000')
    const answer = http("BACKUP TABLE t TO File('t.tar.zst')").catch(() => undefined)
    const later = await http("BACKUP TABLE t TO File('u.tar.zst') ASYNC")
    expect(later.text).toContain('CREATING_BACKUP')
    await engine.stop()
    expect(await engine.exited).toEqual({ code: 0, signal: null })
    await answer
    const next = await start(directory)
    expect(await httpTo(next.url)('SELECT count() FROM t')).toMatchObject({ text: '20000000\n' })
    await next.stop()
  })
})
