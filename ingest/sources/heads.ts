import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createClient, numberToHex, webSocket } from 'viem'
import { NETWORKS, type Network } from '../chain/networks.js'
import { Quantity, RawHeader } from '../chain/rpc-answers.js'
import { ChainChangedError } from './chain-changed.js'
import type { Rpc } from './rpc.js'

/**
 * The newest block that cannot be replaced any more: the finalized one, or on a chain without finality the one behind
 * the newest by as many blocks as a reorganization may take back, at least block 0.
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

type HeadOptions = {
  /** The newest block to follow: `latest`, or `finalized` on a chain with finality. */
  tag: 'latest' | 'finalized'
  wsUrl: string | null
  /** Throws where the chain that the node says it serves is another than before. */
  checkChainId: (chainId: number) => void
  /** Told of the newest block at each look. */
  onHead: (head: RawHeader) => void
  /** The longest time between two looks at the head, in milliseconds. */
  pollMs: number
  /** The hash of a block as it was read before; null where that is not known, or not yet. */
  hashOf: (blockNumber: number) => Promise<string | null>
  log: Logger
  signal: AbortSignal
}

/**
 * The number of the newest block, each time it has grown, until `signal` aborts. A newest block that is not as new as
 * one before is no news where it is one that was read before: the node may lag. Rejects with ChainChangedError where it
 * is another one.
 */
export async function* followHead(
  rpc: Rpc,
  { tag, checkChainId, wsUrl, onHead, pollMs, hashOf, log, signal }: HeadOptions,
): AsyncGenerator<number> {
  const wake = wakeups(wsUrl, pollMs, log, signal)
  let agreed = ''
  try {
    for (let newest = -1; !signal.aborted; await wake.next()) {
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
      } else if (hash !== agreed) {
        const known = await hashOf(number)
        if (known !== null && known !== hash) throw new ChainChangedError(`block ${number} is no longer ${known}`)
        if (known !== null) agreed = hash
      }
    }
  } finally {
    wake.close()
  }
}
