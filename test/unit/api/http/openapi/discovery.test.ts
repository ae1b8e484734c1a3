import { expect } from 'vitest'
import { operationsOf } from '../../../../../api/http/openapi/document.js'
import { recordedAnswers } from '../../../../../api/http/openapi/examples.js'
import { test } from '../../../../support/documented.js'
import { answerChecker } from '../../../../support/openapi-check.js'

test('the descriptions of the service may be cached for minutes', async ({ app }) => {
  for (const [url, type] of [
    ['/openapi.json', 'application/json; charset=utf-8'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
  ] as const) {
    const { statusCode, headers } = await app.inject(url)
    expect([url, statusCode, headers['content-type']]).toEqual([url, 200, type])
    expect(headers['cache-control']).toBe('public, max-age=300')
  }
})

test('llms.txt has every route once, with its parameters and price', async ({ app, document }) => {
  const text = (await app.inject('/llms.txt')).body
  expect(text).toMatch(/^# Plumbline\n\n> /)
  const lines = text.split('\n')
  for (const { path, method, operation } of operationsOf(document)) {
    const found = lines.filter((line) => line.startsWith(`- \`${method.toUpperCase()} ${path}\`: `))
    expect([path, found.length]).toEqual([path, 1])
    for (const { name, in: place } of operation.parameters ?? [])
      if (place === 'query') expect(found[0]).toContain(`\`${name}\``)
    expect([path, found[0]?.match(/Costs (\S+)\./)?.[1] !== undefined]).toEqual([path, '402' in operation.responses])
  }
  expect(lines.find((line) => line.includes('/analysis`'))).toContain('Costs 0.05.')
  expect(lines.find((line) => line.includes('/flows/history`'))).toContain('Costs 0.02. Query: `from`?, `to`?.')
  expect(text.length).toBeLessThan(10_800)
})

test('llms.txt leads to documents, each served as Markdown', async ({ app }) => {
  const text = (await app.inject('/llms.txt')).body
  const linksOf = (page: string, link: RegExp): string[] => [...page.matchAll(link)].map(([, link = '']) => link)
  const documents = linksOf(text, /\]\((\/docs\/[\w/]+\.md)\)/g)
  expect(documents.length).toBeGreaterThanOrEqual(5)
  const index = (await app.inject('/docs/methodology/README.md')).body
  const pages = linksOf(index, /\]\(([\w-]+\.md)\)/g).map((page) => `/docs/methodology/${page}`)
  expect(pages.length).toBeGreaterThan(10)
  for (const link of [...documents, ...pages]) {
    const { statusCode, headers, body } = await app.inject(link)
    expect([link, statusCode, headers['content-type']]).toEqual([link, 200, 'text/markdown; charset=utf-8'])
    expect(body).toMatch(/^# /)
  }
})

test('llms.txt says how to pay only where payments are taken, and has its routes under the heading of who may use them', async ({
  app,
}) => {
  const text = (await app.inject('/llms.txt')).body
  expect(text).toContain('This service takes no payments')
  const sections = Object.fromEntries(text.split('\n## ').map((part) => [part.split('\n', 1)[0], part]))
  expect(sections['Free routes']).not.toContain('/api/admin/')
  expect(sections['Paid routes']?.match(/^- `GET /gm)).toHaveLength(3)
  expect(sections['Admin routes']?.match(/^- `/gm)?.length).toBeGreaterThan(10)
})

test('every answer of an operation has a recorded, valid example', async ({ document }) => {
  const recorded = recordedAnswers()
  const checker = answerChecker(document)
  for (const { path, operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if ('$ref' in response) continue
      for (const [mediaType, content] of Object.entries(response.content ?? {})) {
        // These are not shown in the document, and a stream has no end.
        if (/parquet|arrow|event-stream/.test(mediaType)) continue
        const value = content.examples?.recorded?.value
        expect([path, status, mediaType, value]).toEqual([
          path,
          status,
          mediaType,
          recorded[operation.operationId]?.[status]?.[mediaType],
        ])
        expect(value, `${path} ${status} ${mediaType}: npm run examples`).toBeDefined()
        const body = typeof value === 'string' ? value : JSON.stringify(value)
        const fault = checker.faultOf(operation, { status: Number(status), contentType: mediaType, body })
        expect([path, status, fault]).toEqual([path, status, null])
      }
    }
  }
  for (const [status, byType] of Object.entries(recorded.problems ?? {}))
    for (const [contentType, value] of Object.entries(byType))
      expect(checker.faultOfProblem({ status: Number(status), contentType, body: JSON.stringify(value) })).toBeNull()
})
