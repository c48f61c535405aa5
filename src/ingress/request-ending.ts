// The end of a request: the client that leaves, the time that is over and the resource that is suspended all tell it, once.
// Not an AbortController: one for each request, in a Set, kept a sixth of all requests' memory until whole collections.
import type { Bagged } from '#base/bag.ts'

export class RequestEnding implements Bagged {
  place = -1
  /** Why it ends. */
  reason: Error | undefined
  #controller: AbortController | undefined
  #listener: ((reason: Error) => void) | undefined

  /** The first reason counts. */
  abort(reason: Error): void {
    if (this.reason !== undefined) return
    this.reason = reason
    this.#listener?.(reason)
    this.#controller?.abort(reason)
  }

  /** Calls back at the end, in place of an earlier listener. */
  listen(listener: (reason: Error) => void): void {
    this.#listener = listener
  }

  /** For work that waits; most requests need none. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.reason !== undefined) this.#controller.abort(this.reason)
    }
    return this.#controller.signal
  }
}
