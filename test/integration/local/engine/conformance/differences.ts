/** Where the embedded engine is known to differ from a server: the name of the test and why. */
export const differences: Readonly<Record<string, string>> = {
  'queryID() is the id of the request': 'the engine gives each statement an id of its own',
  'typographic quotation marks are quotes':
    'they are refused, as is all that the gateway could cut otherwise than the engine',
  'error 56 with status 404: CREATE TABLE bad (a UInt8) ENGINE = Nope':
    'all engines but those that keep their data here are refused, with error 497',
  'http_write_exception_in_output_format puts the error into JSON': 'errors are always text',
  'ORC makes the round trip': 'its rows are not accepted: the reader of the engine ends the process over broken ones',
  'xz works both ways': 'no library for it is kept well',
  'bz2 works both ways': 'no library for it is kept well',
  'snappy works both ways': 'no library has its frames',
}

/** Differences that a busy machine hides now and then, so that a test of them would fail by chance: they are skipped. */
export const differencesInTime: Readonly<Record<string, string>> = {
  'the summary counts what was read, not what came out':
    'a statement that is over within milliseconds is not seen reading',
  'the summary counts what INSERT … SELECT wrote': 'a statement that is over within milliseconds is not seen writing',
}
