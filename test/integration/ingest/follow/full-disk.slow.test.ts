import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { newestBlock } from '../../../../clickhouse/chain/blocks.js'
import { migrate } from '../../../../clickhouse/schema/migrate.js'
import { connect } from '../../../../clickhouse/store/client.js'
import { readyApi } from '../../../support/api-server.js'
import { stillChain } from '../../../support/chain.js'
import { fingerprint } from '../../../support/fingerprint.js'
import { ingestedTo, startIngest } from '../../../support/ingest.js'
import { copyHistory } from '../../../support/ingested.js'
import { metricValue } from '../../../support/metrics.js'
import { test } from '../../../support/services.js'
import { requireTool } from '../../../support/tools.js'

const ENGINE = fileURLToPath(new URL('../../../../dist/local/engine/main.js', import.meta.url))
const DISK_BYTES = 256 * 2 ** 20
const BLOCKS = 60

/** An engine with a small disk of its own, in memory, which can be filled to the last byte and ends with the engine. */
async function engineOnSmallDisk(dir: string) {
  const args = ['--data', join(dir, 'data'), '--port', '0', '--query-log-days', '0']
  const env = { ...process.env, CLICKHOUSE_SANDBOX: 'off', CLICKHOUSE_PASSWORD: 'disk' }
  const script = `mount -t tmpfs -o size=${DISK_BYTES} none "$0" && exec "$@"`
  const command = ['-rm', 'sh', '-c', script, dir, process.execPath, ENGINE, ...args]
  const engine: ChildProcess = spawn('unshare', command, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    engine.kill('SIGTERM')
    if (engine.exitCode === null) await once(engine, 'exit')
  })
  const [line] = (await once(createInterface({ input: engine.stdout as NodeJS.ReadableStream }), 'line')) as [string]
  const filler = join(`/proc/${engine.pid}/root`, dir, 'filler')
  return {
    url: (JSON.parse(line) as { url: string }).url,
    fill: (): void => {
      const file = openSync(filler, 'w')
      try {
        for (;;) writeSync(file, Buffer.alloc(65_536))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    free: (): void => rmSync(filler),
  }
}

/** An engine, a chain, ingest and the API have to start, on a busy machine. */
const TIMEOUT_MS = 900_000

test(
  'while the disk of ClickHouse is full ingest waits, status and metrics say why, and nothing is lost',
  async ({ clickhouse: undisturbed, clickhouseEnv }) => {
    requireTool('mounts of its own')
    const dir = await mkdtemp(join(tmpdir(), 'plumbline-disk-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    const chain = await stillChain({ historyBlocks: BLOCKS })
    onTestFinished(() => chain.remove())
    await copyHistory(chain, undisturbed, clickhouseEnv)

    const engine = await engineOnSmallDisk(dir)
    const env = {
      ...{ CLICKHOUSE_URL: engine.url, CLICKHOUSE_USER: 'default', CLICKHOUSE_PASSWORD: 'disk' },
      CLICKHOUSE_DATABASE: 'disk',
    }
    await migrate(env)
    const clickhouse = connect(env, { application: 'plumbline-test' })
    onTestFinished(() => clickhouse.close())
    const ingest = startIngest(env, chain.rpcUrl, { BATCH_BLOCKS: '1' })
    onTestFinished(() => ingest.kill('SIGKILL'))
    await expect.poll(() => newestBlock(clickhouse), { timeout: 240_000, interval: 20 }).not.toBeNull()
    // A merge that meets the end of the disk may leave a part with empty files; that is ClickHouse's, and stops ingest with a remedy.
    await clickhouse.command({ query: 'SYSTEM STOP MERGES' })
    engine.fill()
    await expect.poll(() => ingest.output(), { timeout: 240_000 }).toContain('not enough space')

    const { url } = await readyApi(env)
    const status = (await (await fetch(new URL('/api/v1/status', url))).json()) as {
      storage: { least_free_share: number }
    }
    expect(status.storage.least_free_share).toBeLessThan(0.01)
    const metrics = await (await fetch(new URL('/metrics', url))).text()
    expect(metricValue(metrics, 'plumbline_disk_free_bytes{disk="default"}')).toBeLessThan(DISK_BYTES / 100)
    expect(ingest.child.exitCode, ingest.output()).toBeNull()
    expect((await newestBlock(clickhouse))?.block_number).toBeLessThan(BLOCKS)

    engine.free()
    await clickhouse.command({ query: 'SYSTEM START MERGES' })
    await ingestedTo(clickhouse, BLOCKS, ingest)
    expect(await fingerprint(clickhouse)).toEqual(await fingerprint(undisturbed))
  },
  TIMEOUT_MS,
)
