/** What the tabs tell each other. */
type Word<Message> = { is: 'message'; message: Message } | { is: 'hello' }

export type Tabs<Message> = {
  /** Tells all other tabs; only the leader speaks. */
  tell: (message: Message) => void
}

type Duties<Message> = {
  /** Called once this tab is the only one that does the work, at once if there is no other. */
  lead: () => void
  /** A message of the leader. */
  heard: (message: Message) => void
  /** What a tab that has just opened must know; asked of the leader only. */
  known: () => Message
}

/**
 * Makes one tab of this page the leader, by a lock of the browser that ends with its tab. Where a browser has no locks
 * (pages without TLS that are not on this machine), every tab leads itself.
 */
export function joinTabs<Message>(name: string, { lead, heard, known }: Duties<Message>): Tabs<Message> {
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') {
    lead()
    return { tell: () => {} }
  }
  const channel = new BroadcastChannel(name)
  let isLeader = false
  const say = (word: Word<Message>): void => channel.postMessage(word)
  channel.onmessage = ({ data: word }: MessageEvent<Word<Message>>) => {
    if (word.is === 'message') heard(word.message)
    else if (isLeader) say({ is: 'message', message: known() })
  }
  void navigator.locks.request(name, () => {
    isLeader = true
    lead()
    // The lock is held until the tab is closed.
    return new Promise<never>(() => {})
  })
  say({ is: 'hello' })
  return { tell: (message) => say({ is: 'message', message }) }
}
