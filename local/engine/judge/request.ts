import { isOwner, type User } from '../access/users.js'
import { accessDenied, EngineError, unknownSetting } from '../engine/errors.js'
import type { QueryRequest } from '../http/request.js'
import type { Statement } from '../sql/statement.js'
import { isPlainStructure } from '../sql/structure.js'
import { allowedInputFormats, allowedOutputFormats } from './allowed/formats.js'
import { allowedSettings } from './allowed/settings.js'
import type { Verdicts } from './verdicts.js'

/**
 * Refuses what a request brings besides its statement: settings, external tables and the format of its rows. Owners of
 * every database may send anything.
 */
export async function assertRequestAllowed(user: User, verdicts: Verdicts, request: QueryRequest): Promise<void> {
  const { settings, externalTables, statement } = request
  if (isOwner(user)) return
  for (const [name, value] of Object.entries(settings)) {
    if (allowedSettings.has(name) || name === 'profile') continue
    const serverValue = await verdicts.serverValue(name)
    if (serverValue === undefined) throw unknownSetting(name)
    // Clients send what they rely on. It changes nothing, unless the user has another value.
    if (value === serverValue && !(name in user.settings)) continue
    const text = `Setting ${name} should not be changed: it is only allowed to owners of every database`
    throw EngineError.of(452, 'SETTING_CONSTRAINT_VIOLATION', text)
  }
  for (const { name, structure, format } of externalTables) {
    if (!isPlainStructure(structure)) throw refused(user, `A structure with more than names and types (${name})`)
    if (!allowedInputFormats.has(format.toLowerCase())) throw refused(user, `The format ${format}`)
  }
  if (statement.kind === 'insert' && statement.input && !isPlainStructure(statement.input.structure)) {
    throw refused(user, 'A structure with more than names and types (input)')
  }
  if (statement.kind === 'insert' && !allowedInputFormats.has(statement.format.toLowerCase())) {
    throw refused(user, `The format ${statement.format}`)
  }
}

/**
 * Refuses a format that is not on the list, and a SELECT whose format the engine and this server do not find at the same
 * place. `parsed` is the one in the engine's syntax tree, `used` the one in which the result is written.
 */
export function assertSameFormat(user: User, statement: Statement, parsed: string | undefined, used: string): void {
  if (isOwner(user)) return
  if (!allowedOutputFormats.has(used.toLowerCase())) throw refused(user, `The format ${used}`)
  if (statement.kind === 'select' && parsed !== statement.format) throw refused(user, 'A format at this place')
}

const refused = ({ name }: User, what: string) =>
  accessDenied(`${name}: Not enough privileges. ${what} is only allowed to owners of every database`)
