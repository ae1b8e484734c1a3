import { open, rename } from 'node:fs/promises'

/** Writes a file so that after a crash it holds either its complete old or its complete new content. */
export async function writeDurably(path: string, data: string | Uint8Array): Promise<void> {
  const file = await open(`${path}.new`, 'w')
  try {
    await file.writeFile(data)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
}
