import { expect, test } from 'vitest'
import { listen } from '../../../process/listen.js'

/** A server on a machine where these addresses fail so. */
const serverOn = (failing: Record<string, string>) => ({
  listen: async ({ host }: { host: string }): Promise<string> => {
    if (host in failing) throw Object.assign(new Error('no'), { code: failing[host] })
    return host
  },
})
const port = { name: 'PORT', value: 3000 }
const host = (value: string) => ({ name: 'HOST', value })

test('every address is listened on, also without IPv6', async () => {
  expect(await listen(serverOn({}), host('::'), port)).toBe('::')
  expect(await listen(serverOn({ '::': 'EAFNOSUPPORT' }), host('::'), port)).toBe('0.0.0.0')
})

test('an address that cannot be listened on is named with its variable', async () => {
  const machine = serverOn({ '::': 'EADDRINUSE', '::1': 'EAFNOSUPPORT', '192.0.2.1': 'EADDRNOTAVAIL' })
  await expect(listen(machine, host('::'), port)).rejects.toThrow('PORT: port 3000 is in use')
  await expect(listen(machine, host('192.0.2.1'), port)).rejects.toThrow(
    'HOST: 192.0.2.1 is not an address of this machine',
  )
  await expect(listen(machine, host('::1'), port)).rejects.toThrow('HOST: ::1 is not an address of this machine')
})
