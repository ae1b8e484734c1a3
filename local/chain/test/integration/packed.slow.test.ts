import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { withPacked } from '../../../../test/support/packed.js'
import { blockHash } from './chain.js'

const PACKAGE = fileURLToPath(new URL('../../', import.meta.url))

/** Starts the devnet from Node, and ends it. Resolves with the hash of its first block. */
async function devnetFromNode(cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const script = `import { spawnDevnet } from 'plumbline-devnet'
    const devnet = await spawnDevnet({ dataDir: 'devnet' })
    console.log(devnet.genesisHash)
    await devnet.stop()`
  return (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd, env })).stdout
}

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
    await expect(devnetFromNode(folder, env)).rejects.toThrow('in use by another devnet')
    command.kill('SIGTERM')
    expect((await exited)[0]).toBe(0)

    expect(await devnetFromNode(folder, env)).toBe(`${genesisHash}\n`)
  })
})
