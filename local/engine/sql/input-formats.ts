import { notImplemented } from '../engine/errors.js'

/** The engine's readers of these run over the end of their buffer when a length in the rows is wrong, and die of it. */
const unsafe = /^(protobuf|orc$)/i

/** Throws ClickHouse's error 48 for a format in which rows from outside may not be read here. */
export function assertReadable(format: string): void {
  if (unsafe.test(format)) {
    throw notImplemented(`Rows in the format ${format} are not accepted: this engine does not survive broken ones`)
  }
}
