import { PlumblineError } from './errors.js'

/** An address cannot be listened on. Another process may release it. */
class ListenError extends PlumblineError {
  constructor(message: string, cause: unknown) {
    super(message, { retryable: true, cause })
  }
}

/** A variable of the environment with its value. */
type Variable<Value> = { name: string; value: Value }

/** Every address of a machine, of both kinds, and of one whose kernel has no IPv6. */
const EVERYWHERE = '::'
const EVERYWHERE_IPV4 = '0.0.0.0'

/**
 * Makes a server listen; resolves to its URL. `::` is every address of the machine, with or without IPv6. Rejects with
 * ListenError, which names the variable at fault.
 */
export async function listen(
  server: { listen: (where: { host: string; port: number }) => Promise<string> },
  host: Variable<string>,
  port: Variable<number>,
): Promise<string> {
  const listenAt = (address: string): Promise<string> => server.listen({ host: address, port: port.value })
  try {
    return await listenAt(host.value).catch((cause) => {
      if (host.value !== EVERYWHERE || (cause as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw cause
      return listenAt(EVERYWHERE_IPV4)
    })
  } catch (cause) {
    throw listenError(cause, host, port)
  }
}

/** The error of a failed listen in words that name the variable at fault; any other error as it is. */
function listenError(cause: unknown, host: Variable<string>, port: Variable<number>): unknown {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') return new ListenError(`${port.name}: port ${port.value} is in use`, cause)
  if (code === 'EACCES') return new ListenError(`${port.name}: port ${port.value} needs more rights`, cause)
  if (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'ENOTFOUND')
    return new ListenError(`${host.name}: ${host.value} is not an address of this machine`, cause)
  return cause
}
