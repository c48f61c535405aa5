// Requests and replies of evidence packs.
import { z } from 'zod'
import { pageQuery } from '#contract/values/list-page.ts'
import { ownObject } from '#contract/values/own-object.ts'
import { parseWith } from '#contract/values/parse.ts'

/** Days between `from` and `to`, at most: a leap year. */
export const PACK_DAYS_MAX = 366
/** The most unfinished packs of an account. */
export const PACKS_OPEN_MAX = 5

const moment = z.iso.datetime({ offset: true })

export const packRequest = ownObject({
  /** The first moment of the pack. `to` is the first moment behind it. A charge counts at its end. */
  from: moment,
  to: moment,
})
export type PackRequest = z.infer<typeof packRequest>

/** Throws invalid_request. */
export const parsePackRequest = (json: unknown): PackRequest => parseWith(packRequest, json)

const time = z.iso.datetime()
const whole = z.string().regex(/^\d+$/)
const count = z.int().min(0)

export const packReply = z.object({
  id: z.string().regex(/^pack_/),
  object: z.literal('compliance.pack'),
  from: time,
  to: time,
  /** waiting: for its turn, or until all receipts of the time are signed. */
  status: z.enum(['waiting', 'running', 'ready', 'failed']),
  /** Why it waits, or failed. */
  reason: z.string().nullable(),
  /** Receipts that are read, of all: twice, for the ledger and for the proofs. */
  progress: z.object({ done: count, total: count }).nullable(),
  /** The most that the work is billed. */
  ceiling_energy_nj: whole,
  ceiling_pusd: whole,
  /** The bill of the work until now. */
  energy_nj: whole,
  charge_pusd: whole,
  size_bytes: count.nullable(),
  /** SHA-256 in hex of the pack's manifest, which the receipt in the pack signs. */
  manifest_sha256: z.string().nullable(),
  created_at: time,
  ended_at: time.nullable(),
  /** The pack is removed then. */
  expires_at: time.nullable(),
})
export type PackReply = z.infer<typeof packReply>

export const packList = z.object({
  object: z.literal('list'),
  data: z.array(packReply),
  has_more: z.boolean(),
  next_cursor: z.string().nullable(),
})

export const packListQuery = z.object({
  ...pageQuery,
})

export const packDeleted = z.object({
  object: z.literal('compliance.pack'),
  id: z.string(),
  deleted: z.literal(true),
})
