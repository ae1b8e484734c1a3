/** The version of docs/methodology/: it changes with any formula, threshold or unit of published figures. */
export const METHODOLOGY_VERSION = '2'

/** The response header that names it. */
export const METHODOLOGY_HEADER = 'x-methodology-version'
