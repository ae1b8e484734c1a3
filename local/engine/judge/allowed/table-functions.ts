/**
 * Table functions that users other than the owner may call, in lower case, with the reason. All others are refused: they
 * read files, open connections, run commands or SQL in a string, or read a table's files past its grants.
 */
export const allowedTableFunctions: ReadonlyMap<string, string> = new Map([
  ['numbers', 'counts'],
  ['numbers_mt', 'counts'],
  ['zeros', 'counts'],
  ['zeros_mt', 'counts'],
  ['primes', 'counts'],
  ['generateseries', 'counts'],
  ['generate_series', 'counts'],
  ['generaterandom', 'makes rows of a structure, in which only names and types are accepted'],
  ['null', 'is empty; of its structure only names and types are accepted'],
  ['values', 'has its rows in the statement; of its structure only names and types are accepted'],
  ['sqlstandardvalues', 'has its rows in the statement'],
  ['format', 'has its rows in the statement; its format must be one of the list, its structure only names and types'],
  ['input', 'has the rows of the request; of its structure only names and types are accepted'],
  ['view', 'is a subquery, which is judged like any other'],
  ['viewexplain', 'explains a subquery, which is judged like any other; for users of every database'],
  ['merge', 'reads tables under their grants; the database must be one that the user may read'],
  ['dictionary', 'reads a dictionary under its grants; for users of every database'],
])

/** Which argument of a table function is a structure. */
export const structureArgument: Readonly<Record<string, number>> = {
  generaterandom: 0,
  null: 0,
  values: 0,
  input: 0,
  format: 1,
}
