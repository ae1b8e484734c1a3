import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withPacked } from '../../../../test/support/packed.js'
import { blockHash } from './chain.js'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

test('packed and installed in an empty folder, it makes a chain as a command and resumes it from Node', async () => {
  await withPacked(PACKAGE, async (folder) => {
    const env = { PATH: process.env.PATH, DEVNET_PORT: '0', DEVNET_HISTORY_HOURS: '0.5', DEVNET_LIVE: 'off' }
    const command = spawn('node_modules/.bin/plumbline-devnet', {
      cwd: folder,
      env: { ...env, DATA_DIR: 'devnet' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const exited = once(command, 'exit')
    const [line] = (await once(createInterface({ input: command.stdout }), 'line')) as [string]
    const { rpcUrl, genesisHash } = JSON.parse(line)
    expect(await blockHash(rpcUrl, 0)).toBe(genesisHash)
    command.kill('SIGTERM')
    expect((await exited)[0]).toBe(0)

    const script = `import { spawnDevnet } from 'plumbline-devnet'
      const devnet = await spawnDevnet({ dataDir: 'devnet' })
      console.log(devnet.genesisHash)
      await devnet.stop()`
    const program = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [printed] = (await once(createInterface({ input: program.stdout }), 'line')) as [string]
    expect(printed).toBe(genesisHash)
    expect((await once(program, 'exit'))[0]).toBe(0)
  })
})
