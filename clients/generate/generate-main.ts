import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildApp } from '../../api/app.js'
import type { ApiDocument } from '../../api/http/openapi/document.js'
import { connect } from '../../clickhouse/store/client.js'

/** The OpenAPI document of the API, which needs no ClickHouse for it. */
async function openApiDocument(): Promise<ApiDocument> {
  const nowhere = { CLICKHOUSE_URL: 'http://127.0.0.1:9', CLICKHOUSE_USER: '', CLICKHOUSE_PASSWORD: '' }
  const clickhouse = connect({ ...nowhere, CLICKHOUSE_DATABASE: 'none' }, { application: 'generate' })
  const app = await buildApp({ clickhouse, now: () => new Date(), logger: pino({ level: 'silent' }) })
  try {
    return (await app.inject('/openapi.json')).json()
  } finally {
    await app.close()
    await clickhouse.close()
  }
}

const FOLDERS = { python: 'clients/python/src/plumbline_client', typescript: 'clients/typescript/src' }
const FILES = [
  ...['operations.py', 'types.py'].map((name) => join(FOLDERS.python, name)),
  ...['operations.ts', 'types.ts'].map((name) => join(FOLDERS.typescript, name)),
]
/** Of the document and the programs from which the files were made. */
const DIGEST_FILE = 'dist/.generated'

async function digestOf(document: ApiDocument): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(document))
  for (const program of ['python', 'typescript'])
    hash.update(await readFile(new URL(`./${program}.js`, import.meta.url), 'utf8'))
  return hash.digest('hex')
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
}

// Run at the root of the repository, by `npm run generate`. Making the types takes seconds, so it is done only if they change.
const document = await openApiDocument()
const digest = await digestOf(document)
const made = await readFile(DIGEST_FILE, 'utf8').catch(() => '')
if (digest !== made || !FILES.every((file) => existsSync(file))) {
  const { pythonModules } = await import('./python.js')
  const { typescriptModules } = await import('./typescript.js')
  await write(FOLDERS.python, pythonModules(document))
  await write(FOLDERS.typescript, await typescriptModules(document))
  await writeFile(DIGEST_FILE, digest)
}
