import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withPacked } from '../../../../test/support/packed.js'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

test('packed and installed in an empty folder, it answers as a command and from Node', async () => {
  await withPacked(PACKAGE, async (folder) => {
    const env = { PATH: process.env.PATH, CLICKHOUSE_PASSWORD: 'secret' }
    const command = spawn('node_modules/.bin/plumbline-clickhouse', ['--data', join(folder, 'data'), '--port', '0'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(command, 'exit')
    const [line] = (await once(createInterface({ input: command.stdout }), 'line')) as [string]
    const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': 'secret' }
    const answer = await fetch(JSON.parse(line).url, { method: 'POST', headers, body: 'SELECT 6 * 7' })
    expect(await answer.text()).toBe('42\n')
    command.kill('SIGTERM')
    expect((await exited)[0]).toBe(0)

    const script = `import { spawnEmbedded } from 'plumbline-clickhouse'
      const engine = await spawnEmbedded({ dataDir: './data', user: 'default', password: 'secret' })
      const headers = { 'X-ClickHouse-User': 'default', 'X-ClickHouse-Key': 'secret' }
      process.stdout.write(await (await fetch(engine.url, { method: 'POST', headers, body: 'SELECT 7' })).text())
      await engine.stop()`
    const program = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed] = (await once(createInterface({ input: program.stdout }), 'line')) as [string]
    expect(printed).toBe('7')
    expect((await once(program, 'exit'))[0]).toBe(0)
  })
})
