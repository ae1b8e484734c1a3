import { type ApiDocument, type ApiOperation, operationsOf } from '../../api/http/openapi/document.js'

/** The part of JSON Schema that the document uses. */
type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  pattern?: string
}
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }
type Route = { path: string; operation: ApiOperation; name: string }

const HEAD = '# Made from /openapi.json by `npm run generate`.\n'
const KEYWORDS = new Set(['from', 'import', 'in', 'is', 'class', 'def', 'global', 'pass', 'return', 'with', 'as'])
const LITTLE: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }
const INSTANTS = new Set(['as_of', 'known_at', 'from', 'to'])

const pascal = (name: string): string =>
  name.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase())
const singular = (name: string): string =>
  /(series|bps)$/i.test(name) ? name : name.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
const literal = (values: unknown[]): string => `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`
const union = (types: string[]): string => [...new Set(types)].join(' | ')
const refOf = (ref: string): string => ref.replace('#/components/schemas/', '')

/** `getPeg` becomes `peg`, `listPegEvents` becomes `peg_events`. */
const methodName = (operationId: string): string =>
  operationId
    .replace(/^(get|list)(?=[A-Z])/, '')
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replace(/^_/, '')

/** The free and the priced routes, without the stream, which is written by hand. */
function routesOf(document: ApiDocument): Route[] {
  return operationsOf(document)
    .filter(({ path, method }) => method === 'get' && path.startsWith('/api/v1/'))
    .map(({ path, operation }) => ({ path, operation, name: pascal(methodName(operation.operationId)) }))
    .filter(({ operation }) => operation.operationId !== 'streamEvents')
}

function bodyOf(operation: ApiOperation): Schema {
  const response = operation.responses['200']
  const schema = response && 'content' in response ? response.content?.['application/json']?.schema : undefined
  if (!schema) throw new Error(`${operation.operationId} does not answer with JSON`)
  return schema as Schema
}

/** A TypedDict for every object of the answers, each named by where it stands. */
function createTypes(answers: string[], document: ApiDocument) {
  const texts: string[] = []
  const items = new Map<string, string>()
  const names = new Set(answers)
  const written = new Set<string>()

  function nameIn(parent: string, field: string, isItem: boolean): string {
    const own = pascal(field)
    const repeats = parent.endsWith(own)
    const name =
      field === 'data' && isItem
        ? `${parent}Row`
        : `${repeats ? parent.slice(0, -own.length) : parent}${isItem ? singular(own) : own}`
    const unique = names.has(name) ? `${parent}${isItem ? 'Item' : own}` : name
    if (names.has(unique)) throw new Error(`two types are called ${unique}`)
    names.add(unique)
    return unique
  }

  function typeOf(schema: Schema, nameIt: (isItem: boolean) => string, isItem = false): string {
    if (schema.$ref !== undefined) return reference(refOf(schema.$ref))
    if (schema.const !== undefined) return literal([schema.const])
    if (schema.enum) return literal(schema.enum)
    const variants = schema.anyOf ?? schema.oneOf
    if (variants) return union(variants.map((variant) => typeOf(variant, nameIt, isItem)))
    if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type }, nameIt, isItem)))
    if (schema.type === 'array') return `list[${typeOf(schema.items ?? {}, nameIt, true)}]`
    if (schema.properties) return objectOf(nameIt(isItem), schema)
    if (schema.type === 'object') {
      const { additionalProperties: values } = schema
      return `dict[str, ${typeof values === 'object' ? typeOf(values, nameIt, true) : 'Any'}]`
    }
    return LITTLE[schema.type ?? ''] ?? 'Any'
  }

  /** Writes a component once. */
  function reference(name: string): string {
    if (written.has(name)) return name
    written.add(name)
    names.add(name)
    const schema = document.components.schemas[name] as Schema
    if (!schema.oneOf) return objectOf(name, schema)
    const variants = schema.oneOf.map(({ $ref = '' }) => reference(refOf($ref)))
    texts.push(`${name} = Union[${variants.join(', ')}]`)
    return name
  }

  function objectOf(name: string, { properties = {}, required = [] }: Schema): string {
    const fields = Object.entries(properties).map(([field, schema]): [string, string] => {
      const type = typeOf(schema, (isItem) => nameIn(name, field, isItem))
      const [, item] = /^list\[(\w+)\]$/.exec(type) ?? []
      if (item) items.set(`${name}.${field}`, item)
      return [field, required.includes(field) ? type : `NotRequired[${type}]`]
    })
    const isClass = fields.every(([field]) => /^[A-Za-z_]\w*$/.test(field) && !KEYWORDS.has(field))
    texts.push(
      isClass
        ? `class ${name}(TypedDict):\n${fields.map(([field, type]) => `    ${field}: ${type}\n`).join('')}`
        : `${name} = TypedDict(\n    "${name}",\n    {\n${fields.map(([field, type]) => `        "${field}": ${JSON.stringify(type.replaceAll('"', "'"))},\n`).join('')}    },\n)\n`,
    )
    return name
  }

  return {
    texts,
    objectOf,
    /** The type of the items of a list. */
    itemOf: (name: string, field: string): string => {
      const item = items.get(`${name}.${field}`)
      if (!item) throw new Error(`${name} has no list ${field}`)
      return item
    },
  }
}

/** The type of a parameter for its caller. */
function parameterType({ name, description = '', schema }: Parameter): string {
  if (INSTANTS.has(name)) return schema.type === 'integer' ? 'Seconds' : 'Time'
  if (schema.enum?.join() === 'true,false') return 'bool'
  if (schema.enum) return literal(schema.enum)
  if (description.includes('separated by commas')) return 'str | Sequence[str]'
  // Whole numbers that are written as text.
  if (schema.pattern && /^\^(\\d|\[1-9\])/.test(schema.pattern)) return 'int'
  return LITTLE[`${schema.type}`] as string
}

/** A method for a route: its answer, or the pages of its list. `uses` are the types that it names. */
function methodOf({ path, operation, name }: Route, itemOf: (answer: string, field: string) => string) {
  const parameters = (operation.parameters ?? []) as Parameter[]
  const body = bodyOf(operation).properties ?? {}
  const isTable = parameters.some(({ name }) => name === 'format')
  const kind = isTable ? 'Table' : 'next_after' in body ? 'Log' : 'next_cursor' in body ? 'Pages' : undefined
  const query = parameters
    .filter(({ name, in: place }) => place === 'query' && !(kind && ['cursor', 'format'].includes(name)))
    .sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
  const argument = ({ name }: Parameter): string =>
    name === 'limit' && kind ? 'page_size' : KEYWORDS.has(name) ? `${name}_` : name
  const options = query.map(
    (parameter) => `${argument(parameter)}: ${parameterType(parameter)}${parameter.required ? '' : ' | None = None'}`,
  )
  const places = parameters.filter(({ in: place }) => place === 'path').map(({ name }) => `${name}: str`)
  const given = ['self', ...places, ...(options.length > 0 ? ['*', ...options] : [])].join(', ')
  const url = places.length > 0 ? `f"${path.replace(/\{(\w+)\}/g, "{quote($1, safe='')}")}"` : `"${path}"`
  const sent = `{${query.map((parameter) => `"${parameter.name}": ${argument(parameter)}`).join(', ')}}`

  // Fee economics has two lists, of which one is in pages.
  const items =
    Object.keys(body).find((field) => body[field]?.type === 'array' && field !== 'recent_distributions') ?? ''
  const answer = kind ? `${kind}[${name}, ${itemOf(name, items)}]` : name
  const lines = kind
    ? [`return ${kind}(self, ${url}, ${sent}, "${items}")`]
    : [`body: ${name} = self.get(${url}, ${sent})`, 'return body']
  return {
    uses: kind ? [name, itemOf(name, items)] : [name],
    text: [
      `    def ${methodName(operation.operationId)}(${given}) -> ${answer}:`,
      `        """${operation.summary}."""`,
      ...lines.map((line) => `        ${line}`),
      '',
    ].join('\n'),
  }
}

/** The generated modules of the Python client, by name: the types of all answers, and a method for every route. */
export function pythonModules(document: ApiDocument): Record<'types.py' | 'operations.py', string> {
  const routes = routesOf(document)
  const types = createTypes(
    routes.map(({ name }) => name),
    document,
  )
  for (const { name, operation } of routes) types.objectOf(name, bodyOf(operation))
  const methods = routes.map((route) => methodOf(route, types.itemOf))
  const used = [...new Set(methods.flatMap(({ uses }) => uses))].sort()
  return {
    'types.py': `"""The answers, as the service describes them. A newer service may have more fields."""

${HEAD}
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired


${types.texts.join('\n\n')}`,
    'operations.py': `"""A method for every route."""

${HEAD}
from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

from .pages import Log, Pages, Table
from .transport import Seconds, Time, Transport
from .types import (
${used.map((name) => `    ${name},\n`).join('')})


class Operations(Transport):
    """Free routes, and routes with a price, which need a key or a payment."""

${methods.map(({ text }) => text).join('\n')}`,
  }
}
