import { expect, onTestFinished, test } from 'vitest'
import { appWithoutClickhouse } from '../../../support/documented.js'

test.for([
  [undefined, 'timeout=72'],
  [620, 'timeout=620'],
] as const)(
  'a load balancer is told how long it may keep an idle connection: %s s set, %s',
  async ([keepAliveSeconds, shown]) => {
    const app = await appWithoutClickhouse({ keepAliveSeconds })
    onTestFinished(() => app.close())
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const { headers } = await fetch(`${origin}/health/live`)
    expect(headers.get('keep-alive')).toBe(shown)
    expect(app.server.keepAliveTimeout).toBe(Number(shown.split('=')[1]) * 1000)
  },
)
