import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { ClickHouseEnv } from '../../../clickhouse/store/client.js'
import type { ChainOptions } from '../own-chain.js'
import { createChains } from './chains.js'
import { createDatabases } from './databases.js'

/** Lends databases and chains to the workers. */
export async function startPool(
  clickhouse: Omit<ClickHouseEnv, 'CLICKHOUSE_DATABASE'>,
): Promise<{ url: string; close: () => Promise<void> }> {
  const databases = createDatabases(clickhouse)
  const chains = createChains()
  const actions: Record<string, (body: unknown) => unknown> = {
    '/databases/take': () => databases.take(),
    '/databases/give-back': (name) => databases.giveBack(name as string),
    '/chains/take': (options) => chains.take(options as ChainOptions),
    '/chains/give-back': (id) => chains.giveBack(id as string),
    '/chains/copy-of': (body) => chains.copyOf(...(body as Parameters<typeof chains.copyOf>)),
    '/chains/keep-copy': (body) => chains.keepCopy(...(body as Parameters<typeof chains.keepCopy>)),
  }
  const server = createServer(async (request, response) => {
    try {
      const result = await actions[`${request.url}`]?.(await json(request))
      response.end(JSON.stringify(result ?? null))
    } catch (error) {
      response.statusCode = 500
      response.end(JSON.stringify(error instanceof Error ? error.message : `${error}`))
    }
  })
  // A worker that was busy for longer must find its connection open.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await Promise.all([databases.close(), chains.close()])
    },
  }
}
