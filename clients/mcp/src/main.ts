import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { mcpServers } from './server.js'

const USAGE = `plumbline-mcp [--port PORT] URL

Answers by the Plumbline service at URL, on standard input and output; with --port by streamable HTTP at
http://127.0.0.1:PORT/mcp. PLUMBLINE_KEY is a subscription key.`

const { values, positionals } = parseArgs({ allowPositionals: true, options: { port: { type: 'string' } } })
const [baseUrl] = positionals
if (baseUrl === undefined || !URL.canParse(baseUrl) || positionals.length > 1) {
  console.error(USAGE)
  process.exit(2)
}
const newServer = await mcpServers({ baseUrl, key: process.env.PLUMBLINE_KEY })

if (values.port === undefined) await newServer().connect(new StdioServerTransport())
else serve(Number(values.port))

/** Serves programs on this machine. A request is a session of its own, so that any number of processes can share the work. */
function serve(port: number): void {
  const http = createServer(async (request, response) => {
    if (request.url !== '/mcp') return void response.writeHead(404).end()
    const { port } = http.address() as AddressInfo
    const transport = new StreamableHTTPServerTransport({
      // A page of another site, which has made its name lead here, is refused.
      enableDnsRebindingProtection: true,
      allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
    })
    const server = newServer()
    response.once('close', () => void server.close())
    await server.connect(transport as Parameters<typeof server.connect>[0])
    await transport.handleRequest(request, response)
  })
  http.listen(port, '127.0.0.1', () => {
    console.error(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)
  })
}
