// GET /.well-known/ergon/receipt-keys.json: the keys by which receipts are checked, and how many signers stand behind them.
import type { Handler } from '#http/reply.ts'
import type { Receipts } from '#receipts/prove.ts'
import type { SignerStore } from '#receipts/signer-store.ts'
import { receiptKeysJson } from '#tlog/keys.ts'

/** The signers, labelled honestly: five processes on one host guard against a crash, not against the host's owner. */
export type SignersLabel = {
  readonly count: number
  readonly threshold: number
  readonly hosts: number
}

/** `ready`: how many of the signers have their share, as far as that is known. */
export const createReceiptKeys =
  (receipts: Receipts, signers: SignersLabel, ready: SignerStore['ready']): Handler =>
  async () => {
    const keys = receiptKeysJson(await receipts.keys())
    const page = { ...keys, signers: { ...signers, ready: await ready() } }
    return { kind: 'known', status: 200, body: () => page }
  }
