// The state of a session, as the headers of its messages tell it: whether the backend can have a next client.
import { FrameScanner } from '#wire/frames.ts'
import { TYPE } from '#wire/messages.ts'

const OUTSIDE_TRANSACTION = 0x49
/** CopyData, CopyDone, CopyFail: parts of a query. */
const COPY: ReadonlySet<number> = new Set([0x64, 0x63, 0x66])

export class ProtocolState {
  readonly fromClient = new FrameScanner((type) => this.#said(type))
  readonly fromServer = new FrameScanner((type, status) => this.#answered(type, status))
  /** The client has said Terminate. */
  isLeaving = false
  /** The server's last message is an error. Further messages follow an error that does not end the session. */
  isRefused = false
  /** ReadyForQuery messages that the client has asked for, and those that came. */
  #asked = 0
  #ready = 0
  #isOutsideTransaction = true
  /**
   * Messages of the extended protocol wait for their Sync: the server is inside of a transaction without saying so, and
   * after an error it reads on to the Sync.
   */
  #isUnsynced = false

  /** The server waits for a query, outside of a transaction. */
  get isIdle(): boolean {
    const isAtBoundary = this.fromServer.isAtBoundary && this.fromClient.isAtBoundary
    const isAnswered = this.#asked === this.#ready && !this.#isUnsynced
    return isAtBoundary && isAnswered && this.#isOutsideTransaction
  }

  /** Terminate does not pass: the backend may have a next client. */
  #said(type: number): boolean {
    if (type === TYPE.terminate) this.isLeaving = true
    else if (type === TYPE.query || type === TYPE.sync || type === TYPE.functionCall) {
      this.#asked++
      this.#isUnsynced = false
    } else if (!COPY.has(type)) this.#isUnsynced = true
    return !this.isLeaving
  }

  #answered(type: number, status: number | undefined): true {
    this.isRefused = type === TYPE.error
    if (type === TYPE.ready) {
      this.#ready++
      this.#isOutsideTransaction = status === OUTSIDE_TRANSACTION
    }
    return true
  }
}
