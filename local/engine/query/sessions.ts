import type { Connection } from '../engine/connection.js'
import { badRequest, EngineError } from '../engine/errors.js'

const maxSessions = 200
const defaultTimeoutS = 60
const maxTimeoutS = 3600

/** Reads `session_timeout` in seconds: 60 by default, at most 3600. Throws ClickHouse's error 374. */
export function sessionTimeout(text: string | null): number {
  if (text === null) return defaultTimeoutS
  const error = (why: string) => EngineError.of(374, 'INVALID_SESSION_TIMEOUT', why)
  if (!/^\d+$/.test(text)) throw error(`Invalid session timeout: '${text}'`)
  if (Number(text) > maxTimeoutS) {
    throw error(`Session timeout '${text}' is larger than max_session_timeout: ${maxTimeoutS}`)
  }
  return Number(text)
}

type Session = { connection: Connection; isBusy: boolean; timer: NodeJS.Timeout | undefined }

/** Connections that outlive a request, for temporary tables and SET, by session id. Each serves one request at a time. */
export class Sessions {
  readonly #sessions = new Map<string, Session>()

  /** Takes or opens a session. Throws ClickHouse's error if it is busy, or if it is unknown and `mustExist`. */
  async take(id: string, mustExist: boolean, open: () => Promise<Connection>): Promise<Connection> {
    const present = this.#sessions.get(id)
    if (present?.isBusy)
      throw EngineError.of(373, 'SESSION_IS_LOCKED', `Session ${id} is locked by a concurrent client`)
    if (present) {
      present.isBusy = true
      clearTimeout(present.timer)
      return present.connection
    }
    if (mustExist) throw EngineError.of(372, 'SESSION_NOT_FOUND', `Session ${id} not found`)
    if (this.#sessions.size >= maxSessions) throw badRequest(`Too many sessions. Maximum: ${maxSessions}`)
    const session: Session = { connection: await open(), isBusy: true, timer: undefined }
    if (this.#sessions.has(id)) {
      await session.connection.close()
      throw EngineError.of(373, 'SESSION_IS_LOCKED', `Session ${id} is locked by a concurrent client`)
    }
    this.#sessions.set(id, session)
    return session.connection
  }

  /** Releases a session, which is closed if it is not taken again within `timeoutS`. */
  release(id: string, timeoutS: number): void {
    const session = this.#sessions.get(id)
    if (!session) return
    session.isBusy = false
    session.timer = setTimeout(() => void this.close(id), timeoutS * 1000)
    session.timer.unref()
  }

  async close(id: string): Promise<void> {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    clearTimeout(session?.timer)
    await session?.connection.close()
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.close(id)))
  }
}
