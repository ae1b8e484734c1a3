/** Known differences between the embedded engine and a server: the name of the test and the reason. */
export const differences: Readonly<Record<string, string>> = {
  'queryID() returns the id of the request': 'the engine gives each statement its own id',
  'typographic quotation marks work as quotes':
    'they are refused, like everything that the gateway might split differently from the engine',
  'error 56 with status 404: CREATE TABLE bad (a UInt8) ENGINE = Nope':
    'all table engines that keep their data elsewhere are refused with error 497',
  'http_write_exception_in_output_format puts the error into JSON': 'errors are always text',
  'ORC survives a round trip': 'its rows are not accepted, because corrupt ones would crash the engine',
  'xz works both ways': 'there is no well-maintained library for it',
  'bz2 works both ways': 'there is no well-maintained library for it',
  'snappy works both ways': 'no library supports its frames',
}

/** Differences that do not show on a busy machine, so that their tests would fail by chance. They are skipped. */
export const differencesInTime: Readonly<Record<string, string>> = {
  'the summary counts the rows that were read, not those of the result':
    'the progress of a statement is not seen if it ends within milliseconds',
  'the summary counts the rows that INSERT … SELECT wrote':
    'the progress of a statement is not seen if it ends within milliseconds',
}
