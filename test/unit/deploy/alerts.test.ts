import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
type Rules = { groups: { rules: { alert: string }[] }[] }

test('every alert is explained in the runbook, and every alert that is explained there exists', () => {
  const { groups } = parse(read('deploy/prometheus/alerts.yml')) as Rules
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  const explained = [...read('docs/operations/alerts.md').matchAll(/^- `(Plumbline\w+)`:/gm)].map(([, name]) => name)
  expect(explained.toSorted()).toEqual(alerts.toSorted())
})
