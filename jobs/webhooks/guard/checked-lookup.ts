import { Resolver } from 'node:dns/promises'
import { isIPv6, type LookupFunction } from 'node:net'
import { addressProblem, literalAddresses, type TargetRules } from '../../../clickhouse/webhooks/targets.js'

/**
 * The addresses of a name, in the order in which to try them; empty if it has none. Rejects if they cannot be
 * determined.
 */
export type Resolve = (name: string) => Promise<string[]>

/** No connection was made. The message is shown to the subscription's owner and is one of a few fixed texts. */
export class TargetError extends Error {}

const NO_ADDRESS = new Set(['ENODATA', 'ENOTFOUND'])

/** Short enough that several servers or tries fit in the time limit of an exchange. */
const DNS_TIMEOUT_MS = 2000
const DNS_TRIES = 2

/**
 * Queries name servers: `servers`, or else those of the machine. Does not use the system's own lookup, which blocks one
 * of four threads for as long as a name server is silent: four receivers with a silent name server would stop all
 * others.
 */
export function nameServers(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES })
  if (servers) resolver.setServers(servers)
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const failed = answers.some((answer) => answer.status === 'rejected' && !NO_ADDRESS.has(answer.reason.code))
    if (addresses.length === 0 && failed) throw new TargetError('name servers do not answer')
    return addresses
  }
}

/**
 * A lookup for connections that returns only checked addresses, and fails if any address of a name is not allowed. The
 * connection is made to the checked address, so a name server gains nothing by answering differently the next time. Not
 * called for literal addresses: they are checked with their URL.
 */
export function checkedLookup(resolve: Resolve, rules: TargetRules): LookupFunction {
  const find = async (name: string) => {
    const addresses = literalAddresses(name) ?? (await resolve(name))
    if (addresses.length === 0) throw new TargetError('name not found')
    for (const address of addresses) {
      const problem = addressProblem(address, rules)
      if (problem !== null) throw new TargetError(problem)
    }
    return addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  }
  return (name, { all }, callback) => {
    find(name).then(
      (addresses) => {
        const [{ address, family }] = addresses as [(typeof addresses)[0]]
        if (all) callback(null, addresses)
        else callback(null, address, family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}
