import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHAIN_ID } from '../../local/chain/anvil.js'
import { MAX_STABLES, planStables } from '../../local/chain/stables.js'
import { marketTokenList } from '../../local/chain/token-list.js'

let folder: string | null = null
const files = new Map<string, string>()

/**
 * The path of a token list with every stable that the market of any local chain may have, or only those with these
 * symbols; made once, removed with the process.
 */
export function tokenListFile(...symbols: string[]): string {
  const known = files.get(symbols.join())
  if (known) return known
  if (folder === null) {
    const made = mkdtempSync(join(tmpdir(), 'plumbline-list-'))
    process.once('exit', () => rmSync(made, { recursive: true, force: true }))
    folder = made
  }
  const path = join(folder, `list-${files.size}.json`)
  const list = marketTokenList(planStables(MAX_STABLES), CHAIN_ID, 0)
  const tokens = list.tokens.filter(({ symbol }) => symbols.length === 0 || symbols.includes(symbol))
  writeFileSync(path, JSON.stringify({ ...list, tokens }))
  files.set(symbols.join(), path)
  return path
}

/** The variables that make a program read a local chain's node, with the market's stables listed as by `npm start`. */
export const localNode = (rpcUrl: string) => ({ RPC_URL: rpcUrl, CHAIN: 'devnet', TOKEN_LIST: tokenListFile() })
