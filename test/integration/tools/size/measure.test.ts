import { expect } from 'vitest'
import { measure } from '../../../../tools/size/measured.js'
import { test } from '../../../support/services.js'

test('a database without blocks has no size yet', async ({ clickhouse }) => {
  expect(await measure(clickhouse, 0)).toBeNull()
})
