/** The formats that rows are exported in, by the names in the API, and what the engine calls them. */
export const EXPORT_FORMATS = {
  json: { engine: 'JSONEachRow', mediaType: 'application/json', extension: 'json' },
  ndjson: { engine: 'JSONEachRow', mediaType: 'application/x-ndjson', extension: 'ndjson' },
  csv: { engine: 'CSVWithNames', mediaType: 'text/csv; charset=utf-8', extension: 'csv' },
  parquet: { engine: 'Parquet', mediaType: 'application/vnd.apache.parquet', extension: 'parquet' },
  arrow: { engine: 'ArrowStream', mediaType: 'application/vnd.apache.arrow.stream', extension: 'arrows' },
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS
