// A server that has not answered, so that it, or another one, may be asked again.

export class NotAnswered extends Error {
  /** It may have begun with the request. */
  readonly isReset: boolean
  /** Bytes of its answer have come. */
  readonly hasBegun: boolean
  constructor({ isReset, hasBegun = false }: { isReset: boolean; hasBegun?: boolean }) {
    super('the process has ended')
    this.isReset = isReset
    this.hasBegun = hasBegun
  }
}

/** The part for which a request waits. */
export type AwaitedPart = 'connection' | 'head' | 'body'

/** The awaited part has not come in its time. */
export class Overdue extends Error {
  readonly awaited: AwaitedPart
  constructor(awaited: AwaitedPart) {
    super(`The ${awaited} has not come in time`)
    this.awaited = awaited
  }
}
