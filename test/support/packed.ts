import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Calls `use` with a folder in which a package was installed from the file that `npm pack` makes of it, and nothing else. */
export async function withPacked(packageFolder: string, use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-packed-'))
  try {
    const { name, version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
    await run('npm', ['pack', packageFolder, '--pack-destination', folder], { cwd: folder })
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${name}-${version}.tgz`], {
      cwd: folder,
    })
    await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
