// The subscription of one stream to the reader. A stream that is ready takes the newest reading: a slow client misses
// readings, and no queue of readings waits for it in memory.
import { present, type ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { WatchedAccount } from './watched-account.ts'

export class Subscription {
  readonly account: string
  readonly mark: () => void
  readonly #leave: () => void
  #ready: WatchedAccount | undefined
  #failure: ErgonError | undefined
  #wake = () => {}

  constructor(account: string, { mark, leave }: { mark: () => void; leave: () => void }) {
    this.account = account
    this.mark = mark
    this.#leave = leave
  }

  /** The newest reading that was not taken, or the next one. Rejects with why the stream must end, or the signal's reason. */
  async next(signal: AbortSignal): Promise<WatchedAccount> {
    if (this.#ready === undefined && this.#failure === undefined) await this.#news(signal)
    signal.throwIfAborted()
    if (this.#failure !== undefined) throw this.#failure
    const ready = present(this.#ready, 'a subscription that was woken has a reading')
    this.#ready = undefined
    return ready
  }

  end(): void {
    this.#leave()
  }

  /** Undefined of an account that the reading did not have yet. */
  give(account: WatchedAccount | undefined): void {
    if (account === undefined) return
    this.#ready = account
    if (account.isDeleting)
      this.#failure = fault('account_deleting', 'Could not go on: the account is being deleted')
    this.#wake()
  }

  /** Ends the stream. */
  fail(error: ErgonError): void {
    this.#failure = error
    this.#wake()
  }

  #news(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        resolve()
      }
      signal.addEventListener('abort', wake, { once: true })
      this.#wake = wake
      if (signal.aborted) wake()
    })
  }
}
