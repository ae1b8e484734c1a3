import { generateApi } from 'swagger-typescript-api'
import type { ApiDocument, ApiOperation } from '../../api/http/openapi/document.js'

const HEAD = '// Made from the OpenAPI document by `npm run generate`.\n'

type Schema = { type?: string; properties?: Record<string, Schema> }

const pascal = (name: string): string => `${name[0]?.toUpperCase()}${name.slice(1)}`

/** The public routes, each with its GET alone. */
const publicPaths = ({ paths }: ApiDocument): ApiDocument['paths'] =>
  Object.fromEntries(
    Object.entries(paths).flatMap(([path, { get }]) => (get && path.startsWith('/api/v1/') ? [[path, { get }]] : [])),
  )

/** The types of parameters and answers, with what they mean. */
async function typesOf(document: ApiDocument): Promise<string> {
  const { files } = await generateApi({
    spec: document as never,
    output: false,
    silent: true,
    generateClient: false,
    extractResponseBody: true,
    extractRequestParams: true,
    enumStyle: 'union',
  } as never)
  return HEAD + files.map(({ fileContent }) => fileContent).join('\n')
}

/** The array of rows in the answer of an operation that has pages. */
function rowsOf({ operationId, parameters = [], responses }: ApiOperation): string | undefined {
  if (!parameters.some(({ name }) => name === 'cursor' || (name === 'after' && operationId === 'listEvents'))) return
  const response = responses['200'] as { content: Record<string, { schema: Schema }> }
  const fields = Object.entries(response.content['application/json']?.schema.properties ?? {})
  return fields.find(([, { type }]) => type === 'array')?.[0]
}

function operationsText(document: ApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, { get }]) =>
    get && get.operationId !== 'streamEvents' ? [{ path, ...get, rows: rowsOf(get) }] : [],
  )
  const names = operations.flatMap(({ operationId, parameters = [] }) => [
    ...(parameters.length > 0 ? [`${pascal(operationId)}Params`] : []),
    `${pascal(operationId)}Data`,
  ])
  const signatures = operations.map(({ operationId, parameters = [], summary, responses, rows }) => {
    const isRequired = parameters.some(({ required }) => required)
    const hasFormat = parameters.some(({ name }) => name === 'format')
    const type = parameters.length > 0 ? `${pascal(operationId)}Params` : 'Record<string, never>'
    const params = `params${isRequired ? '' : '?'}: ${hasFormat ? `Omit<${type}, 'format'>` : type}`
    const data = `${pascal(operationId)}Data`
    const answer = rows === undefined ? `Promise<${data}>` : `Paged<${data}, ${data}['${rows}'][number]>`
    const price = '402' in responses ? '. It has a price' : ''
    return `  /** ${summary}${price}. */\n  ${operationId}: (${params}, options?: RequestOptions) => ${answer}`
  })
  const { discriminator } = document.components.schemas.Event as { discriminator: { mapping: Record<string, string> } }
  const types = Object.keys(discriminator.mapping)
  return [
    `${HEAD}import type { Paged } from './pages.js'`,
    "import type { RequestOptions } from './send.js'",
    `import type { ${names.sort().join(', ')} } from './types.js'`,
    '',
    '/** Types of events that this version knows. */',
    `export const EVENT_TYPES = [${types.map((type) => `'${type}'`).join(', ')}] as const`,
    '',
    '/** Where each operation is, and the array of rows in the pages of those that have pages. */',
    'export const OPERATIONS = {',
    ...operations.map(
      ({ operationId, path, rows }) => `  ${operationId}: { path: '${path}'${rows ? `, rows: '${rows}'` : ''} },`,
    ),
    '} as const',
    '',
    'export type OperationParams = {',
    ...operations.map(
      ({ operationId, parameters = [] }) =>
        `  ${operationId}: ${parameters.length > 0 ? `${pascal(operationId)}Params` : 'Record<string, never>'}`,
    ),
    '}',
    '',
    'export type Operations = {',
    ...signatures,
    '}',
    '',
  ].join('\n')
}

/** The generated sources of the TypeScript client, by name of file: types of the public routes, and where each operation is. */
export async function typescriptModules(document: ApiDocument): Promise<Record<string, string>> {
  const described = { ...document, paths: publicPaths(document) }
  return { 'operations.ts': operationsText(described), 'types.ts': await typesOf(described) }
}
