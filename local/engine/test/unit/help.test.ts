import { expect, test } from 'vitest'
import { flags, Variables } from '../../config.js'
import { help } from '../../help.js'

test('--help names every flag and variable', () => {
  const names = [...Object.keys(flags).map((name) => `--${name}`), ...Object.keys(Variables.shape)]
  expect(names.filter((name) => !help.includes(name))).toEqual([])
  for (const name of names) expect(help, name).toMatch(new RegExp(`^ +${name} `, 'm'))
})
