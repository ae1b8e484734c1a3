/** Characters that could make a name look like something else than a part of a line of text. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** The answer with every text on one line, without characters that are not seen: strangers wrote the names in it. */
export const shown = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer), (_, value) =>
    typeof value === 'string' ? value.replace(UNSEEN, '\uFFFD') : value,
  )
