import { PlumblineError } from './errors.js'

/** Starting again would fail in the same way: bad configuration or a contradiction (EX_CONFIG of sysexits.h). */
export const FINAL_EXIT_CODE = 78

/** The exit code of a process that ends with `error`: 1 where starting it again may help, else FINAL_EXIT_CODE. */
export function exitCodeOf(error: unknown): number {
  return error instanceof PlumblineError && !error.retryable ? FINAL_EXIT_CODE : 1
}
