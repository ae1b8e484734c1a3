import { expect, test } from 'vitest'
import { isPlainStructure } from '../../../sql/structure.js'

test('a structure of names and types is plain', () => {
  for (const structure of [
    'a UInt8',
    "a String, `b c` Nullable(DateTime64(3, 'UTC')), \"d\" Enum8('x' = -1, 'y' = 2)",
    'a Tuple(x UInt8, y Array(String)), b Map(String, AggregateFunction(sum, UInt64)), comment String, ttl Date',
  ]) {
    expect(isPlainStructure(structure), structure).toBe(true)
  }
})

test('anything more, or anything unclear, is not', () => {
  for (const structure of [
    '',
    'a',
    'a UInt8,',
    'a UInt8 DEFAULT 1',
    'a DEFAULT 1',
    'a UInt8 MATERIALIZED f(1), b UInt8',
    'a Nested(b UInt8 default f(1))',
    'a Tuple(b UInt8 /**/ ALIAS f(1))',
    'a UInt8 CODEC(ZSTD)',
    'a UInt8 TTL now()',
    'a Array(UInt8',
    'a UInt8) ENGINE = File(CSV',
    'a $$UInt8$$',
    'a Enum8("x" = {p:Identifier})',
    "a 'UInt8'",
    'a UInt8; SELECT 1',
  ]) {
    expect(isPlainStructure(structure), structure).toBe(false)
  }
})
