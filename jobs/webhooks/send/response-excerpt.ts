const EXCERPT_BYTES = 1024

/**
 * The first bytes of a body as text that can be shown anywhere: at most 1 KiB of UTF-8. Control characters, also those that
 * turn the direction of writing, become spaces; what is no UTF-8 becomes question marks.
 */
export function excerptOf(body: Buffer): string {
  // As a stream: a character that the limit cuts in two is left out.
  const text = new TextDecoder().decode(body.subarray(0, EXCERPT_BYTES), { stream: body.length > EXCERPT_BYTES })
  return text
    .replaceAll('\ufffd', '?')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu, ' ')
    .trim()
}
