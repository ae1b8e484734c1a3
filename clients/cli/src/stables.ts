import type { Client, ListStablecoinsData } from '../../typescript/src/client.js'
import { UsageError } from './arguments.js'
import { printable } from './text.js'

export type Stable = ListStablecoinsData['stablecoins'][number]

const ADDRESS = /^0x[0-9a-f]{40}$/i

/** All rows of a list. */
export async function all<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const found: Row[] = []
  for await (const row of rows) found.push(row)
  return found
}

/** Stables that are sampled, by which the others are not even offered: on a public chain they are hundreds of thousands. */
export const trackedStables = (client: Client, signal: AbortSignal): Promise<Stable[]> =>
  all(client.listStablecoins({ tracked: 'true' }, { signal }))

/**
 * The address of a stable that is named by its address or its symbol, in the case of the symbol, or else in another case.
 * Symbols are not unique: if several stables have it, the error lists their addresses.
 */
export async function addressOf(client: Client, named: string, signal: AbortSignal): Promise<string> {
  if (ADDRESS.test(named)) return named.toLowerCase()
  let found = await all(client.listStablecoins({ symbol: named }, { signal }))
  if (found.length === 0) {
    const wanted = named.toLowerCase()
    found = (await trackedStables(client, signal)).filter(({ symbol }) => symbol.toLowerCase() === wanted)
  }
  const [one, ...others] = found
  if (!one) throw new UsageError(`there is no stable ${printable(named)}`)
  if (others.length > 0) {
    const which = found.map(({ address, tier }) => `${address} (${tier})`).join(', ')
    throw new UsageError(`${found.length} stables have the symbol ${printable(named)}, give the address: ${which}`)
  }
  return one.address
}
