// GET /.well-known/ergon/logs/{log}/{shard}/tile/…: `tile/<level>/<index>[.p/<width>]`, as C2SP tlog-tiles lays them out.
import { fault } from '#contract/errors.ts'
import type { Handler } from '#http/reply.ts'
import type { Receipts } from '#receipts/prove.ts'
import { parseTilePath } from '#tlog/tiles.ts'
import { askedOrigin } from '#accounts/log-origin.ts'

export const createReceiptTile =
  (receipts: Receipts): Handler =>
  async ({ parameters }) => {
    const id = parseTilePath(`tile/${parameters['*'] ?? ''}`)
    const tile = id && (await receipts.tile(askedOrigin(parameters), id))
    if (tile === undefined)
      throw fault('not_found', 'Could not find the tile: no checkpoint covers it')
    return { kind: 'known', status: 200, contentType: 'application/octet-stream', body: () => tile }
  }
