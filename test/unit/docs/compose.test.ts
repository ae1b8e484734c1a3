import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ApiConfig } from '../../../api/config.js'
import { IngestConfig } from '../../../ingest/config.js'
import { JobsConfig } from '../../../jobs/config.js'

const compose = readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8')

/** The lines of a block, up to the next line that is indented no deeper than its first. */
function blockOf(name: string): string {
  const [, indent = '', rest = ''] = new RegExp(`^( *)${name}:.*\\n([\\s\\S]*)`, 'm').exec(compose) ?? []
  return rest.split(new RegExp(`^ {0,${indent.length}}\\S`, 'm'), 1)[0] ?? ''
}

/** The variables that a service is given: its own, and those of the anchors that it merges. */
function variablesOf(service: string): Set<string> {
  const own = blockOf(service)
  const anchors = [...own.matchAll(/\*(\w+)/g)].map(([, name]) => blockOf(`x-${name}`))
  return new Set(
    [own, ...anchors].flatMap((text) => [...text.matchAll(/^ +([A-Z][A-Z_]+):/gm)].map(([, name]) => name ?? '')),
  )
}

test.for([
  ['ingest', IngestConfig],
  ['jobs', JobsConfig],
  ['api', ApiConfig],
] as const)('docker-compose.yml passes every variable of %s on, and no other', ([service, config]) => {
  expect([...variablesOf(service)].toSorted()).toEqual(Object.keys(config.shape).toSorted())
})
