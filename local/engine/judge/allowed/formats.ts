import { words } from './words.js'

/**
 * Formats that describe themselves or take everything from the table. Not on the list: formats that read a schema from
 * a file (Template, CapnProto, Protobuf), or ask a registry for it (AvroConfluent), and those of other wire protocols.
 */
const both = `
  Arrow ArrowStream Avro BSONEachRow
  CSV CSVWithNames CSVWithNamesAndTypes
  CustomSeparated CustomSeparatedIgnoreSpaces CustomSeparatedIgnoreSpacesWithNames
  CustomSeparatedIgnoreSpacesWithNamesAndTypes CustomSeparatedWithNames CustomSeparatedWithNamesAndTypes
  GeoJSON JSON JSONColumns JSONColumnsWithMetadata JSONCompact JSONCompactColumns JSONCompactEachRow
  JSONCompactEachRowWithNames JSONCompactEachRowWithNamesAndTypes JSONCompactStringsEachRow
  JSONCompactStringsEachRowWithNames JSONCompactStringsEachRowWithNamesAndTypes JSONEachRow JSONL JSONLines
  JSONObjectEachRow JSONStringsEachRow LineAsString LineAsStringWithNames LineAsStringWithNamesAndTypes
  MsgPack NDJSON Native Npy Null One Parquet Raw RawBLOB RawWithNames RawWithNamesAndTypes Regexp
  RowBinary RowBinaryWithDefaults RowBinaryWithNames RowBinaryWithNamesAndTypes RowBinaryWithNamesAndTypesAndDefaults
  TSKV TSV TSVRaw TSVRawWithNames TSVRawWithNamesAndTypes TSVWithNames TSVWithNamesAndTypes
  TabSeparated TabSeparatedRaw TabSeparatedRawWithNames TabSeparatedRawWithNamesAndTypes TabSeparatedWithNames
  TabSeparatedWithNamesAndTypes Values`

/** Formats that only show rows. */
const output = `
  Hash JSONCompactEachRowWithProgress JSONCompactStrings JSONCompactStringsEachRowWithProgress JSONEachRowWithProgress
  JSONStrings JSONStringsEachRowWithProgress MD Markdown ORC PNG
  Pretty PrettyCompact PrettyCompactMonoBlock PrettyCompactNoEscapes PrettyCompactNoEscapesMonoBlock
  PrettyJSONEachRow PrettyJSONLines PrettyMonoBlock PrettyNDJSON PrettyNoEscapes PrettyNoEscapesMonoBlock PrettySpace
  PrettySpaceMonoBlock PrettySpaceNoEscapes PrettySpaceNoEscapesMonoBlock Prometheus SQLInsert Vertical XML`

/** Formats that only read rows. */
const input = 'JSONAsObject JSONAsString ParquetMetadata Form'

const lower = (text: string): string[] => words(text).map((name) => name.toLowerCase())

/** Formats in which users other than the owner may read results, in lower case. */
export const allowedOutputFormats: ReadonlySet<string> = new Set(lower(`${both} ${output}`))

/** Formats in which users other than the owner may send rows, in lower case. */
export const allowedInputFormats: ReadonlySet<string> = new Set(lower(`${both} ${input}`))
