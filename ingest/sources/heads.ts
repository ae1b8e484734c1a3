import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createClient, webSocket } from 'viem'
import { z } from 'zod'
import { Quantity } from './answers.js'
import type { Rpc } from './rpc.js'

type Wakeups = { next: () => Promise<void>; close: () => void }

/** Resolves `next` when the node announces a block over WebSocket, or after `pollMs` whatever happens. */
function wakeups(wsUrl: string | null, pollMs: number, log: Logger, signal: AbortSignal): Wakeups {
  let announced = false
  let wake: (() => void) | undefined
  const announce = (): void => {
    announced = true
    wake?.()
  }
  signal.addEventListener('abort', announce)
  const client = wsUrl === null ? null : createClient({ transport: webSocket(wsUrl, { retryCount: 0 }) })
  client?.transport
    .subscribe({ params: ['newHeads'], onData: announce, onError: () => {} })
    .then(() => log.info('follows the head over WebSocket'))
    .catch(() => log.warn({ pollMs }, 'no WebSocket at the node: polls for the head'))
  return {
    next: async () => {
      if (!announced) {
        const timer = new AbortController()
        const woken = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([woken, sleep(pollMs, undefined, { signal: timer.signal }).catch(() => {})])
        timer.abort()
      }
      announced = false
    },
    close: () => {
      client?.transport.getRpcClient().then(
        (rpc) => rpc.close(),
        () => {},
      )
    },
  }
}

export type HeadOptions = {
  /** The newest block to follow: `latest`, or `finalized` on a chain with finality. */
  tag: 'latest' | 'finalized'
  wsUrl: string | null
  /** The longest time between two looks at the head, in milliseconds. */
  pollMs: number
  log: Logger
  signal: AbortSignal
}

/** The number of the newest block, each time it has grown, until `signal` aborts. */
export async function* followHead(rpc: Rpc, { tag, wsUrl, pollMs, log, signal }: HeadOptions): AsyncGenerator<number> {
  const wake = wakeups(wsUrl, pollMs, log, signal)
  const Head = z.object({ number: Quantity })
  try {
    for (let newest = -1; !signal.aborted; await wake.next()) {
      const { number } = await rpc.persist('read the head', () =>
        rpc.request('eth_getBlockByNumber', [tag, false], Head),
      )
      if (number > newest) yield number
      newest = Math.max(newest, number)
    }
  } finally {
    wake.close()
  }
}
