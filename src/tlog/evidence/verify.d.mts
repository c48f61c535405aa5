// The types of verify.mjs.

/** The files of a pack, by name. */
export type PackFiles = {
  readonly names: readonly string[]
  read(name: string): Promise<AsyncIterable<Buffer>>
}

export type VerifiedPack = {
  readonly pack: string
  readonly account: string
  readonly from: string
  readonly to: string
  /** The log whose key signed the manifest. */
  readonly origin: string
}

export declare class PackError extends Error {
  /** The file that is wrong. */
  readonly file: string
  constructor(file: string, detail: string)
}

/**
 * Checks a pack: the manifest, its signature, each receipt, that no number is missing, and that ledger, totals and
 * summary follow from the receipts. `keys` is the text of receipt-keys.json that the caller has kept; without it the
 * keys of the pack are used. `told` is called for each check that holds. Throws PackError.
 */
export declare function verifyPack(
  files: PackFiles,
  options?: {
    readonly keys?: string
    readonly told?: (name: string, detail: string) => void
  },
): Promise<VerifiedPack>
