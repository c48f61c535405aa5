// An instance that has not answered, so that another may be asked.

/** `isReset`: it may have begun with the request. */
export class NotAnswered extends Error {
  readonly isReset: boolean
  constructor(isReset: boolean) {
    super('the process has ended')
    this.isReset = isReset
  }
}
