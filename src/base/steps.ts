// Steps of something that goes on, pulled one after the other. A step that is there already costs no promise: an
// answer crosses several of these, and as async iterators they made 64 promises for each request.

export abstract class Steps<T> implements AsyncIterable<T, void, void> {
  /** The next step; undefined at the end. Throws or rejects when there is none; is not called again then. */
  abstract next(): T | undefined | Promise<T | undefined>
  /** Frees the resources of the steps; no caller pulls any more. Further calls do nothing. */
  abstract dispose(): void | Promise<void>

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    try {
      for (let step = await this.next(); step !== undefined; step = await this.next()) yield step
    } finally {
      await this.dispose()
    }
  }
}

/** Goes on with a value: at once when it is there. */
export const chain = <T, R>(
  value: T | Promise<T>,
  then: (value: T) => R | Promise<R>,
): R | Promise<R> => (value instanceof Promise ? value.then(then) : then(value))

/** The steps of an async iterable. */
export const stepsOf = <T>(source: AsyncIterable<T>): Steps<T> =>
  source instanceof Steps ? source : new IteratedSteps(source)

class IteratedSteps<T> extends Steps<T> {
  readonly #iterator: AsyncIterator<T>

  constructor(source: AsyncIterable<T>) {
    super()
    this.#iterator = source[Symbol.asyncIterator]()
  }

  async next(): Promise<T | undefined> {
    const step = await this.#iterator.next()
    return step.done === true ? undefined : step.value
  }

  async dispose(): Promise<void> {
    await this.#iterator.return?.()
  }
}
