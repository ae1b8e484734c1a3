import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createClient, numberToHex, webSocket } from 'viem'
import { NETWORKS, type Network } from '../chain/networks.js'
import { Quantity, RawHeader } from '../chain/rpc-answers.js'
import { ChainChangedError } from './chain-changed.js'
import type { Rpc } from './rpc.js'

/**
 * The newest block that can no longer be replaced: the finalized one; on a chain without finality, the one that is as
 * many blocks behind the newest as a reorganization may replace, at least block 0.
 */
export async function readFinalized(rpc: Rpc, network: Network): Promise<RawHeader> {
  const { head, deepestReorg } = NETWORKS[network]
  return rpc.persist('read the finalized block', async () => {
    const newest = await rpc.request('eth_getBlockByNumber', [head, false], RawHeader)
    if (deepestReorg === 0) return newest
    const number = numberToHex(Math.max(0, newest.number - deepestReorg))
    return rpc.request('eth_getBlockByNumber', [number, false], RawHeader)
  })
}

type Wakeups = { next: () => Promise<void>; close: () => void }

/** `next` resolves when the node announces a block over WebSocket, or after `pollMs` at the latest. */
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
    .then(() => log.info('following the head over WebSocket'))
    .catch(() => log.warn({ pollMs }, 'the node offers no WebSocket: polling for the head'))
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

type HeadOptions = {
  /** The newest block to follow: `latest`, or `finalized` on a chain with finality. */
  tag: 'latest' | 'finalized'
  wsUrl: string | null
  /** Throws if the chain id that the node reports has changed. */
  checkChainId: (chainId: number) => void
  /** Called with the newest block at each poll. */
  onHead: (head: RawHeader) => void
  /** The longest time between two polls of the head, in milliseconds. */
  pollMs: number
  /** The shortest time between two polls, in milliseconds: blocks that come meanwhile are written together. */
  flushMs: number
  /** The hash of a block as it was read before; null if it is unknown so far. */
  hashOf: (blockNumber: number) => Promise<string | null>
  log: Logger
  signal: AbortSignal
}

/**
 * Yields the number of the newest block each time it has grown, until `signal` aborts. An older head than before is
 * ignored if it is a block that was read before, because the node may lag; if it is another block, rejects with
 * ChainChangedError.
 */
export async function* followHead(
  rpc: Rpc,
  { tag, checkChainId, wsUrl, onHead, pollMs, flushMs, hashOf, log, signal }: HeadOptions,
): AsyncGenerator<number> {
  const wake = wakeups(wsUrl, pollMs, log, signal)
  const pause = () => sleep(flushMs, undefined, { signal }).catch(() => {})
  let knownHash = ''
  try {
    for (let newest = -1; !signal.aborted; await Promise.all([pause(), wake.next()])) {
      const [head, chainId] = await rpc.persist('read the head', () =>
        Promise.all([
          rpc.request('eth_getBlockByNumber', [tag, false], RawHeader),
          rpc.request('eth_chainId', [], Quantity),
        ]),
      )
      checkChainId(chainId)
      onHead(head)
      const { number, hash } = head
      if (number > newest) {
        newest = number
        yield number
      } else if (hash !== knownHash) {
        const storedHash = await hashOf(number)
        if (storedHash !== null && storedHash !== hash)
          throw new ChainChangedError(`block ${number} is no longer ${storedHash}`)
        if (storedHash !== null) knownHash = hash
      }
    }
  } finally {
    wake.close()
  }
}
