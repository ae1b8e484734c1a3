import { open } from 'node:fs/promises'
import { badRequest, EngineError } from '../engine/errors.js'
import type { Pipes } from '../engine/pipes.js'
import { type ExternalTable, structureOf } from '../query/external-tables.js'
import type { Body } from './body.js'
import { Multipart, type Part } from './multipart.js'

/** The default of a server's http_max_multipart_form_data_size. */
const maxFileBytes = 1024 * 1024 * 1024
const maxFieldsBytes = 16 * 1024 * 1024

export type Form = { fields: Map<string, string>; tables: ExternalTable[] }

/**
 * Reads a multipart body: its fields, and its files, each of which is saved to disk for an external table. A table is
 * described in the URL or in fields before its file. The caller removes the files; if this throws, there are none.
 */
export async function readForm(body: Body, contentType: string, url: URLSearchParams, pipes: Pipes): Promise<Form> {
  const form: Form = { fields: new Map(), tables: [] }
  const described = (name: string) => form.fields.get(name) ?? url.get(name) ?? undefined
  try {
    const parts = new Multipart(body, contentType)
    let fieldBytes = 0
    for (let part = await parts.next(); part; part = await parts.next()) {
      if (part.isFile) {
        const { name } = part
        const structure = structureOf(name, described(`${name}_structure`), described(`${name}_types`))
        const path = pipes.newFile()
        form.tables.push({ name, structure, format: described(`${name}_format`) ?? 'TabSeparated', path })
        await store(part, path)
      } else {
        const field = await text(part, maxFieldsBytes - fieldBytes)
        fieldBytes += field.length
        form.fields.set(part.name, field)
      }
    }
    return form
  } catch (error) {
    await pipes.removeFiles(form.tables)
    throw error
  }
}

async function store(part: Part, path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    let size = 0
    for (let chunk = await part.read(); chunk; chunk = await part.read()) {
      size += chunk.length
      if (size > maxFileBytes) {
        const limit = `the maximum size of multipart/form-data (${maxFileBytes} bytes)`
        throw EngineError.of(290, 'LIMIT_EXCEEDED', `Limit exceeded: ${limit}`)
      }
      await file.writeFile(chunk)
    }
  } finally {
    await file.close()
  }
}

async function text(part: Part, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for (let chunk = await part.read(); chunk; chunk = await part.read()) {
    size += chunk.length
    if (size > limit) throw badRequest(`The fields of a multipart body may have up to ${maxFieldsBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
