import { FORMATS } from '../../../clickhouse/webhooks/formats.js'
import { markupText } from '../../../process/untrusted-text.js'
import { fitted, fittedLines } from '../messages/text.js'
import { messageWriter } from './writer.js'

/** Telegram counts the characters of a message without its markup; here the markup counts too. */
const MOST_TEXT = FORMATS.telegram.mostText
const MOST_TITLE = 256

/** A call of sendMessage. The text is HTML of which only the title and the link are markup; links have no preview. */
export const telegram = messageWriter(({ title, why, path }, { url, chat_id }) => {
  const head = `<b>${fitted(title, MOST_TITLE, markupText)}</b>\n`
  const link = url === null ? markupText(path) : `<a href="${markupText(url)}">Open in Plumbline</a>`
  const text = `${head}${fittedLines(why, MOST_TEXT - head.length - link.length - 1, markupText)}\n${link}`
  return JSON.stringify({ chat_id, text, parse_mode: 'HTML', link_preview_options: { is_disabled: true } })
})
