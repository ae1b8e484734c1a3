import { tokenize, unquote } from '../sql/lexer.js'

/** The additional response headers that the settings of a request ask for. */
export function responseHeaders(settings: Record<string, string>, origin: string | undefined): [string, string][] {
  const headers: [string, string][] = []
  if (settings.session_timezone) headers.push(['X-ClickHouse-Timezone', settings.session_timezone])
  if (origin && /^(1|true)$/.test(settings.add_http_cors_header ?? ''))
    headers.push(['Access-Control-Allow-Origin', '*'])
  if (settings.http_response_headers) headers.push(...pairs(settings.http_response_headers))
  return headers
}

/** The pairs of `{'name': 'value', …}` that are valid headers. The engine itself checks that the setting is a map. */
function pairs(map: string): [string, string][] {
  const texts = tokenize(map)
    .filter(({ kind }) => kind === 'string')
    .map(({ start, end }) => unquote(map.slice(start, end)))
  const headers: [string, string][] = []
  for (let i = 0; i + 1 < texts.length; i += 2) headers.push([texts[i] as string, texts[i + 1] as string])
  return headers.filter(([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e]*$/.test(value))
}
