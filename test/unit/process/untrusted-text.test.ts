import { expect, test } from 'vitest'
import * as writers from '../../../process/untrusted-text.js'
import { HOSTILE_TEXTS } from '../../support/hostile-texts.js'

/** What a text must not match once it is safe. A new writer has to be added, or this file does not compile. */
const CHECKS: Record<keyof typeof writers, (text: string) => void> = {
  visibleText: (text) => {
    const shown = writers.visibleText(text, 20)
    expect(shown).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|\p{M}{3}/u)
    expect([...shown].length).toBeLessThanOrEqual(20)
  },
  markupText: (text) => {
    expect(writers.markupText(text)).not.toMatch(
      /[<>"\ufffe\uffff]|&(?!(amp|lt|gt|quot);)|[^\P{Cc}\t\n\r\x7f-\x9f]|\p{Cs}/u,
    )
  },
  terminalText: (text) => {
    const shown = writers.terminalText(text)
    expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
  },
}

test.each(HOSTILE_TEXTS)('%j is safe wherever it is written', (text) => {
  for (const check of Object.values(CHECKS)) check(text)
})

test('usual names and lines stay as they are', () => {
  for (const usual of ['pathUSD', 'USDC.e', 'Ärger ₮ 円 é']) {
    expect(writers.visibleText(usual, 20)).toBe(usual)
    expect(writers.markupText(usual)).toBe(usual)
  }
  const line = `${JSON.stringify({ message: 'a "quoted" line\n', ok: true })}\n`
  expect(writers.terminalText(line)).toBe(line)
})

test('a line of JSON for a terminal has the same values', () => {
  for (const text of HOSTILE_TEXTS) expect(JSON.parse(writers.terminalText(JSON.stringify({ text })))).toEqual({ text })
})
