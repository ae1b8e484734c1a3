import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../support/python.js'
import { requireTool } from '../../support/tools.js'

const PYTHON = `
import os, pkgutil, importlib
import plumbline_client as made
from plumbline_client.api.events import list_events
from plumbline_client.api.peg import get_peg, get_peg_series
from plumbline_client.api.stablecoins import list_stablecoins
from plumbline_client.models import GetPegSeriesNull

for module in pkgutil.walk_packages(made.__path__, "plumbline_client."): importlib.import_module(module.name)
client = made.Client(base_url=os.environ["PLUMBLINE_URL"])
stable = next(one for one in list_stablecoins.sync(client=client).stablecoins if one.peg)
assert abs(get_peg.sync(stable.address, client=client).current.price_vs_refusd - 1) < 0.5
assert len(get_peg_series.sync(stable.address, client=client, from_="4h").data) > 0
assert GetPegSeriesNull.MARK.value == "mark"
events = list_events.sync(client=client, after="0").events
print(sorted({type(event).__name__ for event in events}))
`

test('openapi-python-client makes a client of every route and type of event, which works', async ({
  folder,
  origin,
  run,
}) => {
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${origin}/openapi.json`)).text())
  await run('python3', '-m', 'venv', '.venv')
  await run('.venv/bin/pip', 'install', '--quiet', 'openapi-python-client==0.29.1')
  const said = await run(
    '.venv/bin/openapi-python-client',
    'generate',
    '--path',
    'openapi.json',
    '--output-path',
    'made',
  )
  expect(said).not.toMatch(/will not be generated|Unable to process|duplicate models|not valid/)
  await symlink('made/plumbline_client', join(folder, 'plumbline_client'))
  expect(await run('.venv/bin/python', '-c', PYTHON)).toMatch(/'EventPegBreakStarted'/)
})

const TYPESCRIPT = `
import createClient from 'openapi-fetch'
import type { paths } from './api.js'

const client = createClient<paths>({ baseUrl: process.env.PLUMBLINE_URL as string })
const { data } = await client.GET('/api/v1/stablecoins', {})
const address = data?.stablecoins.find(({ peg }) => peg !== null)?.address ?? ''
const peg = await client.GET('/api/v1/stablecoins/{address}/peg', { params: { path: { address } } })
const log = await client.GET('/api/v1/events', { params: { query: { after: '0' } } })
const breaks = log.data?.events.flatMap((event) => (event.event === 'peg_break.started' ? [event.data.max_deviation_bps] : []))
console.log(peg.data?.windows.length, breaks?.every((bps) => bps > 0))
`

test('openapi-typescript makes types that a program compiles with, and that fit the answers', async ({
  folder,
  origin,
  run,
}) => {
  requireTool('npm')
  const settings = { strict: true, target: 'es2022', module: 'nodenext', types: ['node'] }
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${origin}/openapi.json`)).text())
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'main.ts'), TYPESCRIPT)
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, include: ['*.ts'] }))
  const packages = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@20.19.43']
  await run('npm', 'install', '--silent', '--no-audit', '--no-fund', ...packages)
  await run('npx', 'openapi-typescript', 'openapi.json', '-o', 'api.d.ts')
  await run('npx', 'tsc', '-p', '.')
  expect(await run('node', 'main.js')).toMatch(/^3 true\n/)
})
