import { execFile } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isPassword } from '../../access/password.js'
import { withDirectory } from './engine.js'

const entry = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** The command as npm installs it: a link to the file, which is run by its shebang. */
async function command(args: string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  let answer = { code: -1, stdout: '', stderr: '' }
  await withDirectory(async (directory) => {
    const link = join(directory, 'plumbline-clickhouse')
    await symlink(entry, link)
    answer = await new Promise((resolve) => {
      const child = execFile(link, args, { env: { PATH: process.env.PATH } }, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
      child.stdin?.end(input)
    })
  })
  return answer
}

test('--help prints the help, and a missing flag or variable is named', async () => {
  const { code, stdout } = await command(['--help'])
  expect(code).toBe(0)
  expect(stdout).toContain('plumbline-clickhouse --data DIR')
  const wrong = await command([])
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toMatch(/clickhouse: .*--data is required.*CLICKHOUSE_PASSWORD is required/)
})

test('hash-password prints what the users file needs, without the password in an argument', async () => {
  const { code, stdout, stderr } = await command(['hash-password'], 'sé cret\n')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).not.toContain('cret')
  const hash = JSON.parse(stdout)
  expect(isPassword('sé cret', hash)).toBe(true)
  expect(isPassword('sé cret\n', hash)).toBe(false)
  expect(await command(['hash-password'])).toMatchObject({ code: 1, stdout: '' })
})
