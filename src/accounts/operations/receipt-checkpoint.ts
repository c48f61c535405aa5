// GET /.well-known/ergon/logs/{log}/{shard}/checkpoint: the newest signed tree head of a log.
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import type { Receipts } from '#receipts/prove.ts'
import { askedOrigin } from '#accounts/log-origin.ts'

export const createReceiptCheckpoint =
  (receipts: Receipts): Handler =>
  async ({ parameters }) => {
    const note = await receipts.checkpoint(askedOrigin(parameters))
    if (note === undefined)
      throw fault('not_found', 'Could not find the checkpoint: nothing is sealed in that log')
    return {
      kind: 'known',
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      body: () => note,
    }
  }
