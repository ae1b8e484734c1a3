import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { z } from 'zod'
import { ApiConfig } from '../../../api/config.js'
import { IngestConfig } from '../../../ingest/config.js'
import { JobsConfig } from '../../../jobs/config.js'
import { DevnetEnv } from '../../../local/chain/config.js'
import { Variables } from '../../../local/engine/config.js'
import { SECRET_VARIABLES } from '../../../process/environment.js'

type Service = {
  environment?: Record<string, string | null>
  secrets?: string[]
  healthcheck?: object
  mem_limit?: string
  restart?: string
  profiles?: string[]
  volumes?: string[]
}
type Compose = { services: Record<string, Service>; secrets: Record<string, { file: string }>; volumes: object }

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose
const example = [...read('.env.example').matchAll(/^([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name ?? '')

const variablesOf = (service: string): string[] => Object.keys(compose.services[service]?.environment ?? {})
const isSecretFile = (name: string): boolean =>
  name.endsWith('_FILE') && SECRET_VARIABLES.includes(name.slice(0, -'_FILE'.length))

/** What `docker compose` would interpolate: the texts with a variable in them, and the variables without a value. */
function passedOn(node: unknown, names = new Set<string>()): Set<string> {
  if (typeof node === 'string') for (const [, name] of node.matchAll(/(?<!\$)\$\{(\w+)/g)) names.add(name ?? '')
  if (typeof node !== 'object' || node === null) return names
  for (const [key, value] of Object.entries(node)) {
    if (value === null && /^[A-Z]/.test(key)) names.add(key)
    passedOn(value, names)
  }
  return names
}
const reaching = passedOn(compose)

/** Variables of .env.example that no container takes from the outside, and why. */
const NOT_IN_CONTAINERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(DevnetEnv.shape).map((name) => [name, 'the local chain has no container'])),
  ...Object.fromEntries(Object.keys(Variables.shape).map((name) => [name, 'the embedded engine has no container'])),
  CLICKHOUSE_PORT: 'the embedded engine has no container',
  CLICKHOUSE_USERS_FILE: 'the embedded engine has no container',
  INGEST_METRICS_PORT: 'fixed: nothing else listens in the container',
  JOBS_METRICS_PORT: 'fixed: nothing else listens in the container',
  BACKFILL_METRICS_PORT: 'fixed: nothing else listens in the container',
  METRICS_HOST: 'fixed: every address of the container, whose port is not published',
  REDIS_URL_FILE: 'REDIS_URL has a default here, and the two exclude each other',
  WEBHOOK_SECRET: 'webhook:listen is for receivers, on their machine',
}

test('every variable of .env.example reaches a container, or is known not to', () => {
  const missing = example.filter((name) => !reaching.has(name) && !(name in NOT_IN_CONTAINERS))
  expect(missing).toEqual([])
})

test('every variable that the file takes from the outside is in .env.example', () => {
  expect([...reaching].filter((name) => !example.includes(name))).toEqual([])
})

const services: [string, z.ZodObject][] = [
  ['ingest', IngestConfig],
  ['jobs', JobsConfig],
  ['api', ApiConfig],
]
describe.for(services)('%s', ([service, config]) => {
  const given = variablesOf(service)
  test('is given every variable that it reads, and no other', () => {
    expect(given.filter((name) => !isSecretFile(name)).toSorted()).toEqual(Object.keys(config.shape).toSorted())
  })

  test('can read each of its secrets from a file', () => {
    const names = Object.keys(config.shape).filter((name) => SECRET_VARIABLES.includes(name))
    const expected = names.map((name) => `${name}_FILE`).filter((name) => !(name in NOT_IN_CONTAINERS))
    expect(given.filter(isSecretFile).toSorted()).toEqual(expected.toSorted())
  })
})

test('a file of a secret that a container is given is mounted there, and is the one of that variable', () => {
  for (const [service, { environment = {}, secrets = [] }] of Object.entries(compose.services)) {
    for (const [name, path] of Object.entries(environment).filter(([name]) => isSecretFile(name))) {
      const secret = path?.replace('/run/secrets/', '') ?? ''
      expect(secrets, `${service} ${name}`).toContain(secret)
      expect(compose.secrets[secret]?.file, name).toBe(`\${${name}:-/dev/null}`)
    }
  }
})

test('no part may use all memory, and every part that stays says how it is', () => {
  for (const [name, { mem_limit, healthcheck, restart, profiles }] of Object.entries(compose.services)) {
    expect(mem_limit, name).toMatch(/^(\d+[mg]|\$\{MEMORY_\w+:-\d+g\})$/)
    if (restart !== 'no' && !profiles) expect(healthcheck, name).toBeDefined()
  }
})

test('files and volumes that are mounted exist', () => {
  for (const volume of Object.values(compose.services).flatMap(({ volumes = [] }) => volumes)) {
    const [source = ''] = volume.split(':', 1)
    if (source.startsWith('./'))
      expect(() => readFileSync(new URL(`../../../${source}`, import.meta.url)), source).not.toThrow('ENOENT')
    else expect(Object.keys(compose.volumes)).toContain(source)
  }
})
