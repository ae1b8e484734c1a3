import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect } from 'vitest'
import { test } from '../../../../support/documented.js'

/** Redocly's strictest set: recommendations count as errors too. */
const config = await createConfig({
  extends: ['recommended-strict'],
  rules: {
    // OpenAPI 3.1 prefers a fixed path to one with a parameter: flows is not an address.
    'no-ambiguous-paths': 'off',
    'no-unused-components': 'error',
    'operation-description': 'error',
    'operation-operationId-unique': 'error',
    'parameter-description': 'error',
    'tag-description': 'error',
    'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: false },
  },
})

test('a strict linter reports nothing', async ({ document }) => {
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

test('the linter reports a fault', async ({ document }) => {
  const operation = document.paths['/api/v1/stablecoins']?.get
  const source = JSON.stringify({ ...document, paths: { '/api/v1/stablecoins': { get: { ...operation, tags: 5 } } } })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId }) => ruleId)).toContain('struct')
})
