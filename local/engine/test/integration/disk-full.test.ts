import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { requireTool } from '../../../../test/support/tools.js'
import { credentials, httpTo, withDirectory } from './engine.js'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** Starts the server on a disk of `megabytes`, with a way to run commands in its mount namespace. */
async function onSmallDisk(directory: string, megabytes: number) {
  requireTool('mounts of its own')
  const disk = join(directory, 'disk')
  mkdirSync(disk)
  const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && exec "$1" "$2" --data "$0/data" --port 0`
  const child = spawn('unshare', ['-rm', 'sh', '-c', script, disk, process.execPath, main], {
    env: { ...process.env, CLICKHOUSE_PASSWORD: credentials.password },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const onDisk = (command: string) =>
    execFileSync('nsenter', ['-t', String(child.pid), '-U', '-m', '--preserve-credentials', 'sh', '-c', command], {
      cwd: '/',
      env: { ...process.env, DISK: disk },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  return { http: httpTo(url), child, exited, onDisk }
}

test('on a full disk inserts fail, no acknowledged row is lost, and inserts work again when there is space', async () => {
  await withDirectory(async (directory) => {
    const { http, child, exited, onDisk } = await onSmallDisk(directory, 64)
    onDisk('dd if=/dev/zero of="$DISK/ballast" bs=1M count=16')
    await http('CREATE TABLE t (batch UInt32, row UInt32, text String) ENGINE = MergeTree ORDER BY (batch, row)')
    const acknowledged: number[] = []
    const insert = (batch: number) =>
      http(`INSERT INTO t SELECT ${batch}, number, randomString(100) FROM numbers(20000)`)
    let refused = ''
    // Merges, which need disk space too, run at the same time.
    for (let batch = 0; batch < 200 && refused === ''; batch++) {
      const { status, text } = await insert(batch)
      if (status === 200) acknowledged.push(batch)
      else refused = text
    }
    expect(refused).toMatch(/^Code: 243\./)
    onDisk('dd if=/dev/zero of="$DISK/filler" bs=64k; true')
    const row = (batch: number) =>
      http({ query: 'INSERT INTO t FORMAT CSV', body: `${batch},0,${'x'.repeat(200_000)}\n` })
    expect((await row(1000)).text).toMatch(/^Code: 243\./)
    expect((await http("BACKUP TABLE t TO File('none')")).status).not.toBe(200)
    expect(acknowledged.length).toBeGreaterThan(5)
    const held =
      'SELECT groupArray(batch) FROM (SELECT batch FROM t GROUP BY batch HAVING count() = 20000 ORDER BY batch)'
    expect(await http(held)).toMatchObject({ text: `[${acknowledged}]\n` })
    onDisk('rm "$DISK/filler" "$DISK/ballast"')
    expect(await row(1001)).toMatchObject({ status: 200 })
    expect(await http('SELECT batch FROM t WHERE batch > 200')).toMatchObject({ text: '1001\n' })
    expect(await http('TRUNCATE TABLE t')).toMatchObject({ status: 200 })
    child.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  })
})

test('a start on a full or read-only disk fails with an error that names it', async () => {
  requireTool('mounts of its own')
  await withDirectory(async (directory) => {
    for (const [prepare, why] of [
      ['mount -t tmpfs -o size=64k tmpfs "$0"; dd if=/dev/zero of="$0/filler" bs=4k 2>&1', 'no space left on device'],
      ['mount -t tmpfs -o ro tmpfs "$0"', 'read-only file system'],
    ] as const) {
      const script = `{ ${prepare}; } >"$3" ; exec "$1" "$2" --data "$0" --port 0`
      const args = ['-rm', 'sh', '-c', script, directory, process.execPath, main, '/dev/null']
      const { status, stderr } = spawnSync('unshare', args, {
        env: { ...process.env, CLICKHOUSE_PASSWORD: credentials.password },
        encoding: 'utf8',
      })
      expect(stderr, why).toContain(`data directory ${directory} cannot be used`)
      expect(stderr).toContain(why)
      expect(status).toBe(1)
    }
  })
})
