import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { tokens } from 'viem/tokens'
import { z } from 'zod'
import { ConfigError } from '../../process/environment.js'
import { runCommand } from '../../process/run-process.js'
import { parseTokenList, tokensOfChain } from './format.js'
import { shownLocation, tokenListLocation } from './location.js'
import { mergeLists, type ReadList } from './merge.js'
import { fetchList, readListFile } from './read.js'

const USAGE = `npm run token-list -- [--chain 4217] [--viem YYYY-MM-DD] [--from URL|file]...
writes the list that comes with this version, ingest/token-list/<chain>.json: the tokens of every URL or file in the Uniswap
format, and with --viem of the list in viem, whose version is of that day`

const Flags = z.strictObject({
  chain: z.enum(['4217', '42431'], 'must be 4217 or 42431').default('4217'),
  viem: z.iso.date().optional(),
  from: z.array(tokenListLocation).default([]),
})

function readFlags(args: string[]): z.infer<typeof Flags> {
  let values: object
  try {
    const options = {
      chain: { type: 'string' },
      viem: { type: 'string' },
      from: { type: 'string', multiple: true },
    } as const
    values = parseArgs({ args, options, allowPositionals: false }).values
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error), USAGE])
  }
  const { data, error } = Flags.safeParse(values)
  if (!data)
    throw new ConfigError([...error.issues.map(({ path, message }) => `--${String(path[0])}: ${message}`), USAGE])
  if (data.from.length === 0 && data.viem === undefined) throw new ConfigError(['nothing to read', USAGE])
  return data
}

/** viem's list, which has no date of its own. */
function viemList(chainId: number, day: string): ReadList {
  const { version } = createRequire(import.meta.url)('viem/package.json') as { version: string }
  const entries = tokens.all.flatMap(({ addresses, name, symbol, decimals, currency }) => {
    const address = (addresses as Record<number, string | undefined>)[chainId]
    return address === undefined ? [] : { chainId, address, name, symbol, decimals, extensions: { currency } }
  })
  const current_at = new Date(day)
  const list = { name: 'viem', timestamp: current_at.toISOString(), version: { major: 1, minor: 0, patch: 0 } }
  return { list: { ...list, tokens: entries }, source: `viem/tokens ${version}`, current_at }
}

/** The list at a location: a URL's is the newest at this moment, a file's was so when it was made. */
async function listAt(location: z.infer<typeof tokenListLocation>): Promise<ReadList> {
  const isUrl = 'url' in location
  const answer = isUrl
    ? await fetchList(location.url, { version: null, signal: new AbortController().signal })
    : readListFile(location.path)
  const list = parseTokenList(answer?.text ?? '')
  const { sources } = list as { sources?: string[] }
  const source = sources?.join(', ') ?? (isUrl ? shownLocation(location) : list.name)
  return { list, source, current_at: isUrl ? new Date() : new Date(list.timestamp) }
}

await runCommand('token-list', async () => {
  const { chain, viem, from } = readFlags(process.argv.slice(2))
  const chainId = Number(chain)
  const lists = viem === undefined ? [] : [viemList(chainId, viem)]
  for (const location of from) lists.push(await listAt(location))
  const list = mergeLists(chainId, 'Plumbline', lists)
  const text = `${JSON.stringify(list, null, 2)}\n`
  const { addresses } = tokensOfChain(chainId, parseTokenList(text))
  const file = `ingest/token-list/${chainId}.json`
  writeFileSync(file, text)
  console.log(`${file}: ${addresses.size} tokens as of ${list.timestamp}, from ${list.sources.join(' and ')}`)
})
