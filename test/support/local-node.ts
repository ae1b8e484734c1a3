import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_STABLES, planStables } from '../../local/chain/stables.js'
import { marketTokenList } from '../../local/chain/token-list.js'

/** The chain id of every local chain. */
const LOCAL_CHAIN = 31_337

let file: string | null = null

/** A token list with every stable that the market of any local chain may have; made once, removed with the process. */
function tokenListFile(): string {
  if (file !== null) return file
  const folder = mkdtempSync(join(tmpdir(), 'plumbline-list-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  file = join(folder, 'token-list.json')
  writeFileSync(file, JSON.stringify(marketTokenList(planStables(MAX_STABLES), LOCAL_CHAIN, 0)))
  return file
}

/** The variables that make a program read a local chain's node, with the market's stables listed as by `npm start`. */
export const localNode = (rpcUrl: string) => ({ RPC_URL: rpcUrl, CHAIN: 'devnet', TOKEN_LIST: tokenListFile() })
