import { readdirSync, readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import type { z } from 'zod'
import { ApiConfig } from '../../../api/config.js'
import { IngestConfig } from '../../../ingest/config.js'
import { JobsConfig } from '../../../jobs/config.js'
import { SECRET_VARIABLES } from '../../../process/environment.js'

const folder = new URL('../../../deploy/kubernetes/', import.meta.url)
const schemas = JSON.parse(readFileSync(new URL('../../support/kubernetes-schemas.json', import.meta.url), 'utf8')) as {
  kinds: Record<string, string>
  definitions: object
}
const ajv = new Ajv({ strict: false, allowUnionTypes: true, validateFormats: false })
ajv.addSchema({ $id: 'kubernetes', definitions: schemas.definitions })

type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: { template: { spec: { containers: Container[] } } }
  data?: Record<string, string>
}
type Container = {
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[]
}

const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml')
const manifestsIn = (file: string) =>
  parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => document.toJS() as Manifest)
const manifests = files.flatMap(manifestsIn)

/** What the schema of its kind finds wrong with a manifest; fields that it does not define are wrong. */
function problemsOf(manifest: Manifest): string[] {
  const ref = schemas.kinds[`${manifest.apiVersion}/${manifest.kind}`]
  if (ref === undefined) return [`no schema of ${manifest.apiVersion}/${manifest.kind}`]
  const validate = ajv.getSchema(`kubernetes${ref}`)
  validate?.(manifest)
  return (validate?.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

describe('the manifests', () => {
  test.for(files)('%s follows the schemas of Kubernetes', (file) => {
    for (const manifest of manifestsIn(file)) expect(problemsOf(manifest), manifest.metadata.name).toEqual([])
  })

  test('are checked by schemas that find misspelt fields and wrong types', () => {
    const api = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'plumbline-api')
    const text = JSON.stringify(api)
    const wrong = (from: string, to: string) => problemsOf(JSON.parse(text.replace(from, to)) as Manifest).join('\n')
    expect(wrong('livenessProbe', 'livenessProb')).toContain('livenessProb')
    expect(wrong('"containerPort":3000', '"containerPort":"3000"')).toContain('must be integer')
    expect(wrong('"selector"', '"selectors"')).toContain('selector')
  })

  test('are all in the kustomization', () => {
    const { resources } = parse(readFileSync(new URL('kustomization.yaml', folder), 'utf8')) as { resources: string[] }
    expect(resources.toSorted()).toEqual(files.toSorted())
  })

  test('select the pods that they are about', () => {
    const labels = (of: unknown): string => JSON.stringify(Object.entries(of ?? {}).toSorted())
    for (const { kind, spec } of manifests as unknown as { kind: string; spec: Record<string, never> }[]) {
      if (kind !== 'Deployment') continue
      const { selector, template } = spec as unknown as {
        selector: { matchLabels: object }
        template: { metadata: { labels: object } }
      }
      expect(labels(selector.matchLabels)).toBe(labels(template.metadata.labels))
    }
  })
})

const parts: [string, z.ZodObject][] = [
  ['ingest', IngestConfig],
  ['jobs', JobsConfig],
  ['api', ApiConfig],
]
describe.for(parts)('%s', ([part, config]) => {
  const env = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === `plumbline-${part}`)
    ?.spec.template.spec.containers[0]?.env
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {}

  test('takes every secret that it reads by reference, and none in the clear', () => {
    const secrets = Object.keys(config.shape).filter((name) => SECRET_VARIABLES.includes(name))
    const referred = env?.filter(({ valueFrom }) => valueFrom).map(({ name }) => name) ?? []
    expect(referred.toSorted()).toEqual(secrets.toSorted())
    for (const { name, valueFrom } of env ?? [])
      if (valueFrom) expect(valueFrom.secretKeyRef).toMatchObject({ name: 'plumbline', key: name })
  })

  test('would start with what it is given', () => {
    const values = {
      ...settings,
      ...Object.fromEntries((env ?? []).flatMap(({ name, value }) => (value ? [[name, value]] : []))),
    }
    const given = { ...values, RPC_URL: 'http://node', CLICKHOUSE_PASSWORD: 'x' }
    expect(config.safeParse(given).error?.issues ?? []).toEqual([])
    for (const name of Object.keys(values))
      expect([...Object.keys(config.shape), ...Object.keys(settings)]).toContain(name)
  })
})
