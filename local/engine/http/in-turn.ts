import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The answer that came last on a connection. */
const latest = new WeakMap<Socket, ServerResponse>()

/**
 * Runs `handle` when the answers before it on the same connection are done, as a client may send requests ahead. Not at all
 * when the connection is gone by then: an answer that is not its connection's turn is never told that it has closed.
 */
export function inTurn({ socket }: IncomingMessage, response: ServerResponse, handle: () => void): void {
  const before = latest.get(socket)
  latest.set(socket, response)
  if (!before || before.closed) handle()
  else {
    before.once('close', () => {
      if (!socket.destroyed) handle()
    })
  }
}
