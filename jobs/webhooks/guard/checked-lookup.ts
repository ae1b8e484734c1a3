import { Resolver } from 'node:dns/promises'
import { isIPv6, type LookupFunction } from 'node:net'
import { addressProblem, literalAddresses, type TargetRules } from '../../../clickhouse/webhooks/targets.js'

/** The addresses of a name, in the order of their use; none where it has none. Rejects where this cannot be found out. */
export type Resolve = (name: string) => Promise<string[]>

/** A connection is not made. The message is for the subscription's owner, and is one of few. */
export class TargetError extends Error {}

const NO_ADDRESS = new Set(['ENODATA', 'ENOTFOUND'])

/** Within the time of an exchange, more than one server or try gets its turn. */
const DNS_TIMEOUT_MS = 2000
const DNS_TRIES = 2

/**
 * Asks name servers: `servers`, else those of the machine. Not the system's own lookup, which occupies a thread of four
 * for as long as a name server is silent: four receivers with such a one would stop all the others.
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
 * A lookup for connections that gives out checked addresses only, and none at all where one of a name's addresses is not
 * allowed. The connection is made to what was checked, so a name server that answers differently the next time gains
 * nothing. Not called for literal addresses: they are checked with their URL.
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
      (found) => {
        const [{ address, family }] = found as [(typeof found)[0]]
        if (all) callback(null, found)
        else callback(null, address, family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}
