// The state of a session, as the headers of its messages tell it: whether the backend can have a next client.
import { FrameScanner } from './frames.ts'
import { TYPE } from './wire.ts'

const OUTSIDE_TRANSACTION = 0x49

export class ProtocolState {
  readonly fromClient = new FrameScanner((type) => this.#said(type))
  readonly fromServer = new FrameScanner((type, status) => this.#answered(type, status))
  /** The client has said Terminate. */
  isLeaving = false
  /** ReadyForQuery messages that the client has asked for, and those that came. */
  #asked = 0
  #ready = 0
  #isOutsideTransaction = true

  /** The server waits for a query, outside of a transaction. */
  get isIdle(): boolean {
    const isAtBoundary = this.fromServer.isAtBoundary && this.fromClient.isAtBoundary
    return isAtBoundary && this.#asked === this.#ready && this.#isOutsideTransaction
  }

  /** Terminate does not pass: the backend may have a next client. */
  #said(type: number): boolean {
    if (type === TYPE.terminate) this.isLeaving = true
    else if (type === TYPE.query || type === TYPE.sync || type === TYPE.functionCall) this.#asked++
    return !this.isLeaving
  }

  #answered(type: number, status: number | undefined): true {
    if (type === TYPE.ready) {
      this.#ready++
      this.#isOutsideTransaction = status === OUTSIDE_TRANSACTION
    }
    return true
  }
}
