// One HTTP exchange: the request as it came, its raw target, and one signal for everything that can
// end it early (client gone, deadline, the work's own cut).
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { BodyMemory } from './body-memory.ts'

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly method: string
  readonly path: string
  readonly #search: string
  /** Of its spend; empty until that is open. */
  requestId = ''
  /** Its reads are marked so. */
  spend: { markRead(): void } | undefined
  /** Headers of its protocol on every answer: names and values in turn. */
  protocolHeaders: readonly string[] = []
  /** Headers about the limits of its caller, likewise. */
  limitHeaders: readonly string[] = []
  /** The part of the answer that was sent: time of the head, bytes of the body, code of a refusal. */
  readonly answered: { headMs: number; bodyBytes: number; errorCode: string | undefined } = {
    headMs: 0,
    bodyBytes: 0,
    errorCode: undefined,
  }
  /** The body has so few bytes, or the request is refused so. */
  bodyLimit: { readonly bytes: number; readonly refusal: ErgonError } | undefined
  /** SHA-256 of the body's bytes, where somebody may ask for it. */
  bodyHash: Buffer | undefined
  readonly #abort = new AbortController()
  readonly #memory: BodyMemory
  #bodyBytes = 0
  #deadline: NodeJS.Timeout

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { deadlineMs, memory }: { deadlineMs: number; memory: BodyMemory },
  ) {
    this.#memory = memory
    this.request = request
    this.response = response
    this.method = request.method ?? 'GET'
    const target = request.url ?? '/'
    const mark = target.indexOf('?')
    this.path = mark < 0 ? target : target.slice(0, mark)
    this.#search = mark < 0 ? '' : target.slice(mark + 1)
    response.once('close', () => {
      if (!response.writableFinished)
        this.end(fault('client_closed', 'The client closed the connection'))
    })
    // Writing to a socket that is gone must not end the process: `close` tells the pipeline.
    response.on('error', () => undefined)
    this.#deadline = this.#endAfter(deadlineMs)
  }

  #endAfter(deadlineMs: number): NodeJS.Timeout {
    const late = () =>
      this.end(fault('deadline_exceeded', `Could not finish the request in ${deadlineMs / 1000} s`))
    return setTimeout(late, deadlineMs)
  }

  /** From now on it may take this long, for work whose length is not known. */
  prolong(deadlineMs: number): void {
    clearTimeout(this.#deadline)
    this.#deadline = this.#endAfter(deadlineMs)
  }

  get hasQuery(): boolean {
    return this.#search !== ''
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#search)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  /** Counts bytes of the body that are kept until the exchange closes; false when there is no room. */
  hold(bytes: number): boolean {
    if (!this.#memory.take(bytes)) return false
    this.#bodyBytes += bytes
    return true
  }

  /** Ends the work early; the first reason counts. */
  end(reason: unknown): void {
    if (!this.#abort.signal.aborted) this.#abort.abort(reason)
  }

  /** Nothing can end it any more. */
  close(): void {
    clearTimeout(this.#deadline)
    this.#memory.give(this.#bodyBytes)
    this.#bodyBytes = 0
  }
}
