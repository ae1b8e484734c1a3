import type { FastifyInstance } from 'fastify'
import { type ActiveKey, createActiveKeys } from '../../api/callers/keys/active-keys.js'
import { hashOf, KeyScope, prefixOf } from '../../api/callers/keys/api-key.js'
import { createKeyUses } from '../../api/callers/keys/key-uses.js'
import { InvalidKeyError } from '../../api/http/errors.js'
import { Memories } from '../../process/memory.js'

/** Registers these keys for `auth` without a database; invalid ones are 401, unless `refuseKeys` decides. Returns the ids of used keys, in order. */
export function withKeys(
  app: FastifyInstance,
  keys: readonly (Partial<ActiveKey> & { key: string })[],
  refuseKeys = (): void => void app.decorate('refuseKey', async () => new InvalidKeyError()),
): string[] {
  const rows = keys.map(({ key, ...given }, i) => ({
    id: `key_${i}`,
    prefix: prefixOf(key),
    hash: hashOf(key),
    scopes: KeyScope.options,
    requests_per_minute: 6000,
    ...given,
  }))
  app.decorate(
    'keys',
    createActiveKeys(async () => rows, new Memories()),
  )
  refuseKeys()
  app.decorate('now', () => new Date('2026-07-01T00:00:00Z'))
  const used: string[] = []
  const uses = createKeyUses(async () => {}, app.log)
  app.decorate('keyUses', {
    ...uses,
    add: (id: string, at: Date) => {
      used.push(id)
      uses.add(id, at)
    },
  })
  app.addHook('onClose', () => uses.close())
  return used
}
