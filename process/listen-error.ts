import { PlumblineError } from './errors.js'

/** An address cannot be listened on. Another process may release it. */
class ListenError extends PlumblineError {
  constructor(message: string, cause: unknown) {
    super(message, { retryable: true, cause })
  }
}

/** A variable of the environment with its value. */
type Variable<Value> = { name: string; value: Value }

/** The error of a failed listen in words that name the variable at fault; any other error as it is. */
export function listenError(cause: unknown, host: Variable<string>, port: Variable<number>): unknown {
  const code = (cause as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') return new ListenError(`${port.name}: port ${port.value} is in use`, cause)
  if (code === 'EACCES') return new ListenError(`${port.name}: port ${port.value} needs more rights`, cause)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new ListenError(`${host.name}: ${host.value} is not an address of this machine`, cause)
  return cause
}
