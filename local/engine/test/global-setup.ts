import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { spawnEmbedded } from '../spawn.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that has to conform, as a user with all rights. */
    conformingServer: ServerUser
  }
}

export type ServerUser = { CLICKHOUSE_URL: string; CLICKHOUSE_USER: string; CLICKHOUSE_PASSWORD: string }
export type TestedServer = { env: ServerUser; kind: string; stop: () => Promise<unknown> }

/** The image that docker-compose.yml runs. */
const CLICKHOUSE_IMAGE = 'clickhouse/clickhouse-server:26.8.2.7'

const PASSWORD = 'plumbline-test'

async function dockerServer(): Promise<TestedServer> {
  const { GenericContainer, Wait } = await import('testcontainers')
  const container = await new GenericContainer(CLICKHOUSE_IMAGE)
    .withEnvironment({ CLICKHOUSE_USER: 'plumbline', CLICKHOUSE_PASSWORD: PASSWORD })
    .withExposedPorts(8123)
    .withWaitStrategy(Wait.forHttp('/ping', 8123))
    .start()
  const url = `http://${container.getHost()}:${container.getMappedPort(8123)}`
  return {
    env: { CLICKHOUSE_URL: url, CLICKHOUSE_USER: 'plumbline', CLICKHOUSE_PASSWORD: PASSWORD },
    kind: `Docker (${CLICKHOUSE_IMAGE})`,
    stop: () => container.stop(),
  }
}

/** The server that CLICKHOUSE_URL names, else one in a container; null without Docker, where the embedded engine is used. */
export async function otherServer(): Promise<TestedServer | null> {
  const { CLICKHOUSE_URL, CLICKHOUSE_USER = 'default', CLICKHOUSE_PASSWORD = '' } = process.env
  if (CLICKHOUSE_URL) {
    return { env: { CLICKHOUSE_URL, CLICKHOUSE_USER, CLICKHOUSE_PASSWORD }, kind: CLICKHOUSE_URL, stop: async () => {} }
  }
  const docker = process.env.DOCKER_HOST !== undefined || existsSync('/var/run/docker.sock')
  return docker ? dockerServer() : null
}

async function embeddedServer(): Promise<TestedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'plumbline-test-'))
  const server = await spawnEmbedded({ dataDir, user: 'default', password: PASSWORD })
  return {
    env: { CLICKHOUSE_URL: server.url, CLICKHOUSE_USER: 'default', CLICKHOUSE_PASSWORD: PASSWORD },
    kind: 'the embedded engine',
    stop: async () => {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<unknown>> {
  const server = (await otherServer()) ?? (await embeddedServer())
  console.log(`tests of conformance use ClickHouse at ${server.kind}`)
  project.provide('conformingServer', server.env)
  return server.stop
}
