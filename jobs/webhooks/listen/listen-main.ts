import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { readFlags } from '../../../process/command-line.js'
import { envInt, parseEnv } from '../../../process/environment.js'
import { runCommand } from '../../../process/run-process.js'
import { createListener } from './listener.js'

const HELP = `npm run webhook:listen -- [--secret whsec_…] [--port N] [--path /P]

Receives webhooks on this machine, verifies their signatures and prints one line for each. Answers 200, or 400 if a
webhook is not signed with the secret. To receive webhooks from a local Plumbline, create a subscription with the url
http://127.0.0.1:4000/.

  --secret S  the subscription's secret; set WEBHOOK_SECRET instead to keep it out of process lists
  --port N    TCP port, on loopback; 0 takes a free one (4000)
  --path /P   answer this path only
`
const Settings = z.object({
  WEBHOOK_SECRET: z
    .string('or --secret is required')
    .regex(/^whsec_[\x21-\x7e]+$/, 'or --secret must begin with whsec_'),
  '--port': envInt(0, 65_535).default(4000),
  '--path': z.string().startsWith('/', 'must begin with /').optional(),
})

const OPTIONS = {
  secret: { type: 'string' },
  port: { type: 'string' },
  path: { type: 'string' },
  help: { type: 'boolean' },
} as const

await runCommand('webhook:listen', async () => {
  const { secret, port, path, help } = readFlags(OPTIONS)
  if (help) {
    console.log(HELP)
    return
  }
  const settings = parseEnv(Settings, {
    WEBHOOK_SECRET: secret ?? process.env.WEBHOOK_SECRET,
    '--port': port,
    '--path': path,
  })
  const server = createListener({
    secret: settings.WEBHOOK_SECRET,
    path: settings['--path'] ?? null,
    print: console.log,
    colours: process.stdout.isTTY && process.stdout.hasColors(),
    now: () => new Date(),
  })
  server.listen(settings['--port'], '127.0.0.1')
  await once(server, 'listening')
  console.log(`listening at http://127.0.0.1:${(server.address() as AddressInfo).port}${settings['--path'] ?? '/'}`)
  await once(server, 'close')
})
