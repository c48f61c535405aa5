// A row of the operation matrix.

/** An honest call of an operation, and its differences from the rule. */
export type Row = {
  readonly path: () => string
  readonly body?: object
  /** Bodies that must be refused with 400 and this `param`. */
  readonly badBodies?: readonly { readonly body: unknown; readonly param: string | null }[]
  /** A path that is another account's, and the code it gets. */
  readonly others?: { readonly path: () => string; readonly code: string }
  /** A path of a public resource, where the operation can be called without a token. */
  readonly nobodys?: () => string
  /** A path of the account that cannot pay, in place of `path()`: what it was billed for before. */
  readonly depleteds?: () => string
  /** A credential of its own kind, in place of an account's token. */
  readonly credential?: string
  /** The statuses that an honest call may get, in place of 200 alone: where nothing is there yet, 404 is one. */
  readonly statuses?: readonly number[]
  /** An account may run few of them at once: the tests of the operation take turns. */
  readonly isOneByOne?: true
  /** Its figures come after its text: the head has a ceiling. */
  readonly isStreamed?: true
}
