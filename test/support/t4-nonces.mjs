// The local chain is at T4, where an expiring transaction must have nonce 0. Since 2.57.20, viem gives it a random one,
// which the chain takes from T12 on (TIP-1106). All of viem's Tempo chains share this hook; for another program, start
// Node with `--import` of this file.
import { tempoModerato } from 'viem/tempo/chains'

const EXPIRING = 2n ** 256n - 1n
const hook = tempoModerato.prepareTransactionRequest
const [prepare] = hook

hook[0] = async (request, context) => {
  const { nonce = 0 } = request
  const prepared = await prepare(request, context)
  return prepared.nonceKey === EXPIRING ? { ...prepared, nonce } : prepared
}
