import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { NETWORKS, type Network } from '../ingest/chain/networks.js'
import { listAge } from '../ingest/token-list/age.js'
import { shownLocation, type TokenListLocation } from '../ingest/token-list/location.js'
import { shippedTokens } from '../ingest/token-list/shipped.js'
import { PAYER_KEY, payer } from './chain/accounts.js'
import { jsonReady, LOOPBACK_PORT, print, type Start, StartError, samePort } from './programs.js'

const ChainReady = z.object({ rpcUrl: z.string(), genesisHash: z.string(), tokenList: z.string() })

/** The chain that ingest reads, as variables, and the database of its facts. */
export type Chain = {
  RPC_URL: string
  RPC_WS_URL: string | undefined
  CHAIN: string
  TOKEN_LIST?: string
  database: string
}

/** The origins of comma-separated URLs. Paths are left out, since they may contain an API key. */
const origins = (urls: string): string =>
  urls
    .split(',')
    .map((url) => new URL(url).origin)
    .join(', ')

/**
 * The database of a local chain. Each chain has its own, so that a new chain never mixes with the facts of a lost one.
 */
async function devnetDatabase(dataDir: string, genesisHash: string): Promise<string> {
  const database = `devnet_${genesisHash.slice(2, 10)}`
  const file = join(dataDir, 'devnet.database')
  const before = existsSync(file) ? (await readFile(file, 'utf8')).trim() : null
  if (before !== null && before !== database) {
    print(
      `the local chain of database ${before} is LOST: starting a new chain with a new database; ${before} is kept unchanged`,
    )
  }
  await writeFile(file, database)
  return database
}

/** What is printed about the list of a chain that is not local: where it is, or how old the one of this version is. */
export function tokenListLine(network: Network, location: TokenListLocation | undefined, now: Date): string | null {
  if (location !== undefined) return `token list  ${shownLocation(location)} (yours)`
  const shipped = shippedTokens(NETWORKS[network].chainId ?? 0)
  if (!shipped) return null
  const { days, isOld } = listAge(shipped.made_at, now)
  const advice = isOld ? ': newer tokens are unlisted. Set TOKEN_LIST to a newer list' : ''
  return `token list  ${shipped.addresses.size} tokens, ${days} days old${advice}`
}

/** Starts the local chain, unless RPC_URL names a node. */
export async function startChain({ config, dataDir, start }: Start): Promise<Chain> {
  if (config.RPC_URL !== undefined) {
    const CHAIN = config.CHAIN ?? 'tempo'
    print(`chain       ${CHAIN} at ${origins(config.RPC_URL)} (yours)`)
    const line = tokenListLine(CHAIN, config.TOKEN_LIST, new Date())
    if (line !== null) print(line)
    return { RPC_URL: config.RPC_URL, RPC_WS_URL: config.RPC_WS_URL, CHAIN, database: 'plumbline' }
  }
  if (config.CHAIN !== undefined && config.CHAIN !== 'devnet')
    throw new StartError(`CHAIN=${config.CHAIN} needs RPC_URL, the address of a node`)
  const ownsTerminal = process.stderr.isTTY
  const ready = await start({
    name: 'devnet',
    entry: './chain/main.js',
    env: { DATA_DIR: dataDir, LOG_LEVEL: ownsTerminal ? 'warn' : config.LOG_LEVEL, CLICKHOUSE_PASSWORD: undefined },
    envWhenRestarted: samePort('DEVNET_PORT', LOOPBACK_PORT),
    ready: jsonReady,
    ownsTerminal,
  })
  const { rpcUrl, genesisHash, tokenList } = ChainReady.parse(JSON.parse(ready))
  const database = await devnetDatabase(dataDir, genesisHash)
  print(`chain       devnet at ${rpcUrl} (local, simulated market)`)
  print(`payer       ${payer.address} (funded, and used by nothing but you)`)
  print(`            key ${PAYER_KEY} (public: worth nothing outside the local chain)`)
  const node = { RPC_URL: rpcUrl, RPC_WS_URL: rpcUrl.replace('http', 'ws'), CHAIN: 'devnet', database }
  return config.TOKEN_LIST === undefined ? { ...node, TOKEN_LIST: tokenList } : node
}
