import { REFERENCE_STABLE } from '../../clickhouse/peg/price.js'
import type { Stablecoin } from '../../clickhouse/stablecoins/stablecoins.js'
import { keptTexts } from '../../clickhouse/stablecoins/texts.js'
import { GENESIS_TOKENS } from '../chain/addresses.js'
import { topicsOf } from '../chain/events.js'
import { RawHeader } from '../chain/rpc-answers.js'
import type { BlockWithLogs } from '../sources/blocks.js'
import { persistAt } from '../sources/chain-changed.js'
import { readLogs } from '../sources/logs.js'
import type { Rpc } from '../sources/rpc.js'
import { StateUnavailableError } from '../sources/state-unavailable.js'
import { describeTokens, type TokenDescription } from '../sources/tokens.js'

/** The quote token of the reference stable, which never changes. */
const NO_TOKEN = '0x0000000000000000000000000000000000000000'

type FirstBlock = Pick<BlockWithLogs, 'number' | 'hash' | 'parentTime'>

/** The stables that existed before the first transaction. They have no logs, so the node is asked. */
export async function genesisStablecoins(rpc: Rpc, first: FirstBlock): Promise<Stablecoin[]> {
  const tokens = await persistAt(rpc, 'read the genesis tokens', first, () => describeGenesis(rpc, first))
  return tokens.map(({ stable, quoteToken: quote_token, ...texts }, log_index) => ({
    stable,
    ...keptTexts(texts),
    quote_token,
    admin: '',
    block_number: 0,
    log_index,
    block_time: first.parentTime,
    tx_hash: '',
  }))
}

/** The genesis tokens at the first block; if the node has dropped that state, as they must have been then. */
async function describeGenesis(rpc: Rpc, first: FirstBlock): Promise<TokenDescription[]> {
  try {
    return await describeTokens(rpc, GENESIS_TOKENS, first)
  } catch (error) {
    if (!(error instanceof StateUnavailableError)) throw error
  }
  // A token's name, symbol and currency never change; genesis tokens begin with the reference stable as quote token.
  const head = await rpc.request('eth_getBlockByNumber', ['latest', false], RawHeader)
  const tokens = await describeTokens(rpc, GENESIS_TOKENS, head)
  // Of these it does not matter whether they were changed and changed back. To read the logs of all blocks takes long.
  const requoted = tokens.filter(({ quoteToken }) => ![REFERENCE_STABLE, NO_TOKEN].includes(quoteToken))
  if (requoted.length === 0) return tokens
  const updates = { address: requoted.map(({ stable }) => stable), topics: [topicsOf(['QuoteTokenUpdate'])] }
  const changed = new Set((await readLogs(rpc, updates, 0, head.number)).map(({ address }) => address))
  return tokens.map((token) => (changed.has(token.stable) ? { ...token, quoteToken: REFERENCE_STABLE } : token))
}
