import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { clientOf, credentials, httpTo, runningQueries, start, withDirectory } from './engine.js'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
/** Whether a process is alive; one that has ended but is not yet reaped is not. */
const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('stored data is available after a stop and a start on another port', async () => {
  await withDirectory(async (directory) => {
    const first = await start(directory)
    await httpTo(first.url)('CREATE TABLE kept (a UInt8) ENGINE = MergeTree ORDER BY a')
    await httpTo(first.url)({ query: 'INSERT INTO kept FORMAT CSV', body: '7\n' })
    await first.stop()
    await first.stop()
    expect(await first.exited).toEqual({ code: 0, signal: null })
    expect(readdirSync(directory)).not.toContain('pipes')
    const second = await start(directory)
    expect(await httpTo(second.url)('SELECT a FROM kept')).toMatchObject({ text: '7\n' })
    await second.stop()
  })
})

test('one process can use a directory, and a second one gets an error that names it', async () => {
  await withDirectory(async (directory) => {
    const owner = await start(directory)
    await expect(start(directory)).rejects.toThrow(new RegExp(`in use by process ${owner.pid}\\b`))
    expect(await httpTo(owner.url)('SELECT 1')).toMatchObject({ text: '1\n' })
    // Without owner.json, the engine's own lock still keeps a second process out.
    execFileSync('rm', [join(directory, 'owner.json')])
    await expect(start(directory)).rejects.toThrow(/in use by another process/)
    expect(await httpTo(owner.url)('SELECT 1')).toMatchObject({ text: '1\n' })
    await owner.stop()
  })
})

test('the directory of a killed process opens again, without its temporary files', async () => {
  await withDirectory(async (directory) => {
    const killed = await start(directory)
    await writeFile(join(directory, 'pipes', 'rows-99'), 'left over')
    killed.child.kill('SIGKILL')
    await killed.exited
    const next = await start(directory)
    expect(existsSync(join(directory, 'pipes', 'rows-99'))).toBe(false)
    expect(statSync(join(directory, 'pipes')).mode & 0o777).toBe(0o700)
    await next.stop()
  })
})

test('kill -9 during inserts loses no acknowledged row and duplicates none, in the table and in its view', async () => {
  await withDirectory(async (directory) => {
    const window = 'SETTINGS non_replicated_deduplication_window = 10000'
    const batchRows = 200
    const acknowledged = new Set<string>()
    let sequence = 0
    for (let round = 0; round < 3; round++) {
      const engine = await start(directory)
      const client = clientOf(engine.url)
      if (round === 0) {
        await client.command({
          query: `CREATE TABLE base (batch UInt32, row UInt32) ENGINE = MergeTree ORDER BY batch ${window}`,
        })
        await client.command({
          query: `CREATE TABLE counts (batch UInt32, rows SimpleAggregateFunction(sum, UInt64)) ENGINE = AggregatingMergeTree ORDER BY batch ${window}`,
        })
        await client.command({
          query:
            'CREATE MATERIALIZED VIEW counts_mv TO counts AS SELECT batch, count() AS rows FROM base GROUP BY batch',
        })
      }
      const insert = (batch: number) =>
        client.insert({
          table: 'base',
          values: Array.from({ length: batchRows }, (_, row) => ({ batch, row })),
          format: 'JSONEachRow',
          clickhouse_settings: {
            insert_deduplication_token: `b${batch}`,
            deduplicate_blocks_in_dependent_materialized_views: 1,
          },
        })
      // Batches in flight during the kill are repeated first. That must not duplicate them. They may still be missing, if
      // the kill came between storing the token and storing the rows, so a writer has to check.
      for (let batch = 0; batch < sequence; batch++) if (!acknowledged.has(String(batch))) await insert(batch)
      const writers = Array.from({ length: 4 }, async () => {
        for (;;) {
          const batch = sequence++
          await insert(batch)
          acknowledged.add(String(batch))
        }
      })
      await sleep(700)
      engine.child.kill('SIGKILL')
      await Promise.allSettled(writers)
      await client.close()
    }
    const engine = await start(directory)
    const http = httpTo(engine.url)
    const counts = async (sql: string) => {
      const { text } = await http(`SELECT batch, ${sql} FORMAT TSV`)
      return new Map(
        text
          .trim()
          .split('\n')
          .map((line) => line.split('\t') as [string, string]),
      )
    }
    const base = await counts('count() FROM base GROUP BY batch')
    expect(acknowledged.size).toBeGreaterThan(50)
    for (const batch of acknowledged) expect(base.get(batch), `batch ${batch}`).toBe(String(batchRows))
    for (const count of base.values()) expect(count).toBe(String(batchRows))
    const view = await counts('sum(rows) FROM counts GROUP BY batch')
    for (const batch of acknowledged) expect(view.get(batch), `batch ${batch} in the view`).toBe(String(batchRows))
    for (const count of view.values()) expect(count).toBe(String(batchRows))
    await engine.stop()
  })
})

test('the error for a port in use names it', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await withDirectory(async (directory) => {
    await expect(start(directory, { port })).rejects.toThrow(`port ${port} is in use`)
  })
  server.close()
})

test('errors name bad variables and directories', async () => {
  await withDirectory(async (directory) => {
    const env = { CLICKHOUSE_MAX_CONCURRENT_QUERIES: 'x', CLICKHOUSE_ALLOW_EMPTY_PASSWORD: 'y' }
    const failed = start(directory, { env, user: '' })
    await expect(failed).rejects.toThrow('CLICKHOUSE_MAX_CONCURRENT_QUERIES')
    await expect(failed).rejects.toThrow('CLICKHOUSE_ALLOW_EMPTY_PASSWORD')
    await expect(failed).rejects.toThrow('CLICKHOUSE_USER')
    await expect(start(join(directory, 'a{b}'))).rejects.toThrow('--data')
    await writeFile(join(directory, 'a file'), '')
    await expect(start(join(directory, 'a file'))).rejects.toThrow(/a file/)
    await mkdir(join(directory, 'é ü & <x>'))
    const odd = await start(join(directory, 'é ü & <x>'))
    expect(await httpTo(odd.url)('SELECT number FROM numbers(2)')).toMatchObject({ text: '0\n1\n' })
    await odd.stop()
  })
})

test('it listens on loopback only, prints one line, and logs no secret', async () => {
  await withDirectory(async (directory) => {
    const child = spawn(process.execPath, [main, '--data', directory, '--port', '0'], {
      env: { ...process.env, CLICKHOUSE_PASSWORD: credentials.password },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const { url, pid } = JSON.parse((await lines.next()).value as string) as { url: string; pid: number }
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
    const listening = execFileSync('cat', ['/proc/net/tcp', '/proc/net/tcp6'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`:${port} `) && line.includes(' 0A '))
    expect(listening.map((line) => line.trim().split(/\s+/)[1])).toEqual([`0100007F:${port}`])
    await httpTo(url)({ query: 'SELECT {p: String}, throwIf(1)', url: { param_p: 'hidden-parameter' } })
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(isAlive(pid)).toBe(false)
    expect((await lines.next()).done).toBe(true)
    expect(output).not.toContain(credentials.password)
    expect(output).not.toContain('hidden-parameter')
  })
})

test('it ends when its parent process is killed', async () => {
  await withDirectory(async (directory) => {
    const spawnUrl = new URL('../../dist/spawn.js', import.meta.url).href
    const script = `const { spawnEmbedded } = await import(${JSON.stringify(spawnUrl)});
      const engine = await spawnEmbedded({ dataDir: ${JSON.stringify(directory)}, user: 'default', password: 'x' });
      console.log(String(engine.pid)); setInterval(() => {}, 1000)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string]
    const pid = Number(line)
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    for (let i = 0; i < 100 && isAlive(pid); i++) await sleep(50)
    expect(isAlive(pid)).toBe(false)
    expect(readdirSync(directory)).not.toContain('owner.json')
  })
})

/** Runs the program as a service manager does. */
function runAlone(directory: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [main, '--data', directory, '--port', '0'], {
    env: { ...process.env, CLICKHOUSE_PASSWORD: credentials.password, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const exited = once(child, 'exit')
  const ready = once(createInterface({ input: child.stdout }), 'line').then(
    ([line]) => JSON.parse(line as string) as { url: string; pid: number },
  )
  return { child, exited, ready, output: () => output }
}

const until = async (what: string, isSo: () => Promise<boolean>) => {
  for (let i = 0; i < 600; i++) {
    if (await isSo().catch(() => false)) return
    await sleep(50)
  }
  throw new Error(`never: ${what}`)
}

test('a crashed engine is restarted at the same address with all acknowledged data', async () => {
  await withDirectory(async (directory) => {
    const alone = runAlone(directory)
    const { url } = await alone.ready
    const http = httpTo(url)
    await http('CREATE TABLE kept (a UInt64) ENGINE = MergeTree ORDER BY a')
    const pid = async () => JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8')).pid as number
    for (const [i, signal] of (['SIGKILL', 'SIGSEGV'] as const).entries()) {
      expect(await http(`INSERT INTO kept SELECT number FROM numbers(${i + 1})`)).toMatchObject({ status: 200 })
      const crashed = await pid()
      expect(crashed).not.toBe(alone.child.pid)
      process.kill(crashed, signal)
      await until('is back', async () => (await pid()) !== crashed && (await http('SELECT 1')).text === '1\n')
      expect(alone.output()).toContain(`the server ended by ${signal}; restarting it`)
    }
    expect(await http('SELECT count() FROM kept')).toMatchObject({ text: '3\n' })
    alone.child.kill('SIGTERM')
    expect(await alone.exited).toEqual([0, null])
  })
})

test('SIGTERM, SIGINT and SIGHUP shut it down once, even if they are repeated', async () => {
  await withDirectory(async (directory) => {
    for (const signals of [['SIGTERM', 'SIGTERM'], ['SIGHUP'], ['SIGINT', 'SIGTERM', 'SIGINT']] as const) {
      const alone = runAlone(directory)
      const { pid, url } = await alone.ready
      const running = httpTo(url)('SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1').catch(
        () => undefined,
      )
      await until('runs', async () =>
        (await runningQueries(httpTo(url))).some((query) => query.includes('sleepEachRow')),
      )
      for (const signal of signals) alone.child.kill(signal)
      process.kill(pid, signals[0])
      expect(await alone.exited, signals.join()).toEqual([0, null])
      await running
      expect(isAlive(pid)).toBe(false)
      expect(readdirSync(directory)).not.toContain('owner.json')
    }
  })
})

test('it keeps running when nobody reads its output any more', async () => {
  await withDirectory(async (directory) => {
    const alone = runAlone(directory)
    const { url, pid } = await alone.ready
    alone.child.stdout.destroy()
    alone.child.stderr.destroy()
    expect(await httpTo(url)('SELECT * FROM nothing')).toMatchObject({ status: 404 })
    process.kill(pid, 'SIGKILL')
    await until('is back', async () => (await httpTo(url)('SELECT 1')).text === '1\n')
    alone.child.kill('SIGTERM')
    expect(await alone.exited).toEqual([0, null])
  })
})

test('a query beyond the memory limit fails alone', async () => {
  await withDirectory(async (directory) => {
    const engine = await start(directory, { env: { CLICKHOUSE_MAX_SERVER_MEMORY_MB: '600' } })
    const http = httpTo(engine.url)
    const others = Array.from({ length: 4 }, () => http('SELECT sleepEachRow(0.1) FROM numbers(10) FORMAT Null'))
    const greedy = await http('SELECT length(groupArray(toString(number))) FROM numbers(50000000)')
    expect(greedy.text).toMatch(/^Code: 241\./)
    for (const other of await Promise.all(others)) expect(other).toMatchObject({ status: 200 })
    expect(await http('SELECT uniqExact(number) FROM numbers(100000)')).toMatchObject({ text: '100000\n' })
    await engine.stop()
  })
})

test('a damaged part is detached, and the error for a damaged definition names it', async () => {
  await withDirectory(async (directory) => {
    const first = await start(directory)
    for (const query of [
      'CREATE DATABASE d',
      'CREATE TABLE d.t (a UInt64) ENGINE = MergeTree ORDER BY a',
      'INSERT INTO d.t SELECT 1',
      'INSERT INTO d.t SELECT 2',
      'CREATE TABLE d.last (a UInt64) ENGINE = MergeTree ORDER BY a',
    ])
      expect(await httpTo(first.url)(query)).toMatchObject({ status: 200 })
    const part = "SELECT path FROM system.parts WHERE database = 'd' AND active ORDER BY name LIMIT 1"
    const path = (await httpTo(first.url)(part)).text.trim()
    await first.stop()
    await writeFile(join(path, 'columns.txt'), '')
    const second = await start(directory)
    expect(await httpTo(second.url)('SELECT a FROM d.t')).toMatchObject({ text: '2\n' })
    const detached = await httpTo(second.url)('SELECT reason FROM system.detached_parts')
    expect(detached.text).toContain('broken')
    await second.stop()
    const [definition] = readdirSync(join(directory, 'engine', 'store'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('last.sql'),
    )
    await writeFile(join(directory, 'engine', 'store', definition as string), '')
    const alone = runAlone(directory)
    expect(await alone.exited).toEqual([1, null])
    expect(alone.output()).toContain('last.sql')
    expect(alone.output()).toMatch(/data directory .* cannot be opened by the engine/)
  })
})
